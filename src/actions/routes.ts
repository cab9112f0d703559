/** Each action as a route of the API: its document, its role, its turn, and its entry in the audit. */
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { described, type Api } from '../ops/server/page/api.js';
import { whoIs } from '../ops/server/http/access.js';
import { knownWorkspace } from '../ops/server/page/event-filter.js';
import { askedBy, pageFor } from '../ops/server/page/scope.js';
import { carryOut, type World } from './carry-out.js';
import { namesInPath, readsOnly, type Action } from './define.js';
import { formIn, sheetText, type Form } from './sheet.js';
import { ACTIONS } from './table.js';

/** @param stopping aborts when what is waited for is not to come any more */
export function addActions(app: Api, world: World, stopping: AbortSignal): void {
  for (const action of ACTIONS) addAction(app, action, world, stopping);
}

function addAction(app: Api, action: Action, world: World, stopping: AbortSignal): void {
  const [method = '', url = ''] = action.route.split(' ');
  const { id, on, about, input, answer, open, consumes, offline, cost, ofWorkspace } = action;
  const named = namesInPath(action);
  const reads = readsOnly(action);
  const params = z.object(part(input, (name) => named.includes(name)));
  // What checks several fields together is kept where none of them is in the path.
  const body = named.length === 0 ? input : z.strictObject(part(input, (name) => !named.includes(name)));
  app.route({
    method,
    url,
    // A request that has no use for the answer must not take events.
    exposeHeadRoute: consumes !== true,
    config: {
      action: action.name,
      access: open === true ? 'public' : consumes === true ? 'consume' : reads ? 'read' : 'operate',
      ...(consumes === true && { forPrograms: true }),
      ...(ofWorkspace === true && { ofWorkspace }),
      ...(offline === true && { offline }),
      ...(cost !== undefined && { cost }),
    },
    schema: described(on)(id, about[0], answer, {
      ...(named.length > 0 && { params }),
      // A program with a token sends no header that only the page has.
      ...(consumes === true && { headers: z.looseObject({}) }),
      ...(Object.keys(body.shape).length > 0 && { [method === 'GET' ? 'querystring' : 'body']: body }),
    }),
    handler: async (request, reply) => {
      const { caller } = request;
      const given = { ...(request.params as object), ...((method === 'GET' ? request.query : request.body) as object) };
      const asked = askedBy(caller, given, 'workspace' in input.shape);
      const seen = { ...world, page: pageFor(caller, world.page) };
      const who = caller?.name == null ? 'on the status page' : `by ${caller.name}`;
      const form = formIn(request.headers.accept);
      if (action.sheet !== undefined && form !== null) {
        knownWorkspace((asked as { workspace?: string }).workspace, seen.page.source);
        return await sendSheet(reply, sheetText(await action.sheet(asked, { ...seen, caller, who }), form), form);
      }
      const gone = consumes === true && { gone: AbortSignal.any([request.signal, stopping]) };
      return await carryOut(action, asked, { ...seen, caller, who, ...gone }, async (entry) => {
        request.isNoted = true;
        if (entry !== null) await world.audit.decided({ ...whoIs(request), ...entry });
      });
    },
  });
}

/** It is sent as it is made. What fails before its first line is a refusal; what fails later cuts the connection. */
async function sendSheet(reply: FastifyReply, lines: AsyncGenerator<string>, form: Form) {
  const [names, first] = [await lines.next(), await lines.next()];
  async function* all() {
    yield names.value as string;
    if (first.done !== true) yield first.value;
    yield* lines;
  }
  const stream = Readable.from(inParts(all()));
  void reply.type(`${form}; charset=utf-8`).send(stream);
  // The turn of its question lasts until the end.
  await finished(stream, { writable: false }).catch(() => undefined);
  return reply;
}

/** A part for each line would take longer to send than to make. */
async function* inParts(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting = '';
  for await (const line of lines) {
    waiting += line;
    if (waiting.length < 64 * 1_024) continue;
    yield waiting;
    waiting = '';
  }
  yield waiting;
}

function part(input: z.ZodObject, isIn: (name: string) => boolean): z.core.$ZodShape {
  return Object.fromEntries(Object.entries(input.shape).filter(([name]) => isIn(name)));
}
