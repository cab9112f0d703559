/** `POST /hints/<workspace>`: its token may stand in addresses and so in logs, so it opens nothing else. */
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ListName, Lists } from '../../crm/lists/lists.js';
import { messageOf } from '../../kit/errors.js';
import type { Log } from '../../kit/log.js';
import { bearerOf } from './http/access.js';
import type { Attempts } from './http/limits.js';
import { isObject, type UncheckedRecord } from '../../crm/record.js';
import { problemOfIds } from '../../crm/hint.js';
import { listsForWord } from '../../crm/references.js';

export interface HintTarget {
  workspace: string;
  lists: Lists;
  add: (list: ListName, ids: readonly string[]) => Promise<void>;
}

/** The target that a token belongs to; null for an unknown token. */
export type HintTargets = (token: string) => HintTarget | null;

/** Enough for 1,000 ids. The vendor's webhooks carry a field's contents before and after: a few kB. */
const MOST_BYTES = 65_536;

export interface HintDeps {
  targets: HintTargets;
  attempts?: Attempts | undefined;
  log: Log;
  schema: object;
}

export function receiveHints(app: FastifyInstance, { targets, attempts, log, schema }: HintDeps): void {
  // A scope of its own, because the rest of the server discards bodies.
  void app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MOST_BYTES }, (_request, body, parsed) => {
      parsed(null, body);
    });
    scope.setErrorHandler((error: FastifyError, _request, reply) => {
      const status = error.statusCode ?? 500;
      if (status >= 500) log.error({ error: messageOf(error) }, 'hint failed');
      return refuse(reply, status, status === 413 ? `hint: expected at most ${MOST_BYTES} bytes.` : undefined);
    });
    // Before the body: a stranger must not have us keep one.
    scope.addHook('onRequest', (request, reply, next) => {
      if (targetOf(request, targets) !== null) next();
      else refuseToken(request, reply, attempts);
    });
    scope.post('/hints/:workspace', { schema }, (request, reply) => take(request, reply, targets));
    done();
  });
}

async function take(request: FastifyRequest, reply: FastifyReply, targets: HintTargets): Promise<FastifyReply> {
  const target = targetOf(request, targets);
  if (target === null) return refuse(reply, 401);
  const hint = parseHint(typeof request.body === 'string' ? request.body : '', target.lists);
  if (hint.outcome === 'refused') return refuse(reply, hint.status, hint.reason);
  if (hint.outcome === 'nothing') return accept(reply, 200, { queued: 0, reason: hint.reason });
  for (const list of hint.lists) await target.add(list, hint.ids);
  return accept(reply, 202, { queued: hint.lists.length * hint.ids.length });
}

/** The same answer for an unknown workspace and a wrong token. */
function refuseToken(request: FastifyRequest, reply: FastifyReply, attempts: Attempts | undefined): FastifyReply {
  const { remoteAddress = '' } = request.socket;
  const isTooMany = tokenOf(request) !== null && attempts?.wrong(remoteAddress) === 'too many';
  return isTooMany ? refuse(reply, 429, 'Too many wrong tokens. Wait a minute.') : refuse(reply, 401);
}

function tokenOf({ headers, query }: FastifyRequest): string | null {
  const { token: parameter } = query as { token?: unknown };
  return bearerOf(headers.authorization) ?? (typeof parameter === 'string' ? parameter : null);
}

function targetOf(request: FastifyRequest, targets: HintTargets): HintTarget | null {
  const { workspace } = request.params as { workspace: string };
  const token = tokenOf(request);
  const target = token === null ? null : targets(token);
  return target?.workspace === workspace ? target : null;
}

function accept(reply: FastifyReply, status: number, data: object): FastifyReply {
  return reply.code(status).send({ success: true, data });
}

function refuse(reply: FastifyReply, status: number, reason?: string): FastifyReply {
  const message = STATUS_CODES[status] ?? 'Bad Request';
  return reply.code(status).send({ success: false, message, ...(reason !== undefined && { reason }) });
}

/** `nothing`: it names no record of a polled list. The vendor checks a new webhook with an empty request. */
export type ParsedHint =
  | { outcome: 'named'; lists: readonly ListName[]; ids: readonly string[] }
  | { outcome: 'nothing'; reason: string }
  | { outcome: 'refused'; status: 400 | 404; reason: string };

/** Reads the body `{ list, ids }`, or that of the vendor's webhook, which is unsigned: it only queues look-ups. */
export function parseHint(text: string, polled: Lists): ParsedHint {
  if (text.trim() === '') return { outcome: 'nothing', reason: 'The body is empty.' };
  const body = jsonOf(text);
  if (!isObject(body)) return unusable(400, 'expected a JSON object, found something else');
  const isOwn = Object.hasOwn(body, 'list') || Object.hasOwn(body, 'ids');
  return isOwn ? ownBody(body, polled) : vendorBody(body, polled);
}

function ownBody({ list: name, ids }: UncheckedRecord, polled: Lists): ParsedHint {
  if (typeof name !== 'string') return unusable(400, 'expected "list" to be the name of a list');
  const list = polled.parse(name);
  if (list === undefined) {
    const allowed = polled.all.map((one) => one.name).join(', ');
    return unusable(404, `there is no polled list of the name in "list"; allowed: ${allowed}`);
  }
  return namedOrRefused([list.name], ids);
}

function vendorBody({ objectType: word, objectId: id }: UncheckedRecord, polled: Lists): ParsedHint {
  const lists = typeof word === 'string' && id !== undefined ? listsForWord(word, polled) : [];
  if (lists.length > 0) return namedOrRefused(lists, [id]);
  return { outcome: 'nothing', reason: 'The body names no record of a list that is polled.' };
}

function namedOrRefused(lists: readonly ListName[], ids: unknown): ParsedHint {
  const problem = problemOfIds(ids);
  return problem === null ? { outcome: 'named', lists, ids: ids as string[] } : unusable(400, problem);
}

function unusable(status: 400 | 404, what: string): ParsedHint {
  return { outcome: 'refused', status, reason: `hint: ${what}.` };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
