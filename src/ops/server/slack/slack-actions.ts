/** `POST /slack/actions`: a click on a button of a message in Slack. Slack signs it; whoever cannot has it refused, and learns nothing. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { readClick, type Button, type ButtonsOf } from '../../../delivery/handlers/message/buttons.js';
import type { Subscription } from '../../../delivery/handlers/handler.js';
import { withinTime } from '../../../kit/clock.js';
import { messageOf } from '../../../kit/errors.js';
import type { Log } from '../../../kit/log.js';
import { printable, shorten } from '../../../kit/printable.js';
import type { Audit } from '../../audit.js';
import { refuse } from '../http/app.js';
import type { Routes } from '../http/server.js';

/** Slack waits for three seconds, and shows its user a failure then. */
const ANSWER_WITHIN_MS = 2_000;
const MOST_BYTES = 65_536;
const LONGEST_NAME = 80;

/** What was clicked, by whom, and when Slack has sent it (ms): the same click sent again is the same decision. */
export interface Click {
  button: Button;
  about: ButtonsOf;
  /** `slack:<name>`, as the audit names them. */
  by: string;
  name: string;
  address: string;
  atMs: number;
}

export interface SlackDeps {
  /** Those that run now. */
  subscriptions: () => readonly Subscription[];
  /** Does what was clicked. @returns what the channel is told */
  act: (click: Click) => Promise<string>;
  redisIsAway: () => boolean;
  audit: Pick<Audit, 'count'>;
  log: Log;
}

const payloadSchema = z.object({
  user: z.object({ id: z.string(), username: z.string().optional(), name: z.string().optional() }),
  response_url: z.string().optional(),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().optional() })).min(1),
});
type Payload = z.output<typeof payloadSchema>;

export function slackRoutes(deps: SlackDeps): Routes {
  return (app) => {
    const under = new Set<Promise<void>>();
    app.removeAllContentTypeParsers();
    // The bytes are what is signed.
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: MOST_BYTES }, (_request, body, parsed) => {
      parsed(null, body);
    });
    app.addHook('preClose', async () => {
      await Promise.allSettled(under);
    });
    addRoute(app, deps, (work) => {
      under.add(work);
      void work.finally(() => under.delete(work));
    });
  };
}

function addRoute(app: FastifyInstance, deps: SlackDeps, started: (work: Promise<void>) => void): void {
  app.post('/slack/actions', { config: { access: 'public', forPrograms: true } }, async (request, reply) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const timestamp = headerOf(request, 'x-slack-request-timestamp');
    const signed = { timestamp, signature: headerOf(request, 'x-slack-signature'), body };
    const signers = deps.subscriptions().filter(({ clicks }) => clicks?.isSigned(signed) === true);
    const { remoteAddress: address = '' } = request.socket;
    const refused = (): FastifyReply => {
      deps.audit.count({ by: '', how: 'slack', address, what: 'slack actions', outcome: 'refused' });
      return refuse(reply, { status: 401, message: 'This is not signed.' });
    };
    if (signers.length === 0) return refused();
    const payload = payloadIn(body);
    if (payload === null) return refuse(reply, { status: 400, message: 'This is no click on a button.' });
    const [action] = payload.actions;
    const click = action && readClick(action);
    // Also a button of another app, or one that only opens an address.
    if (click == null) return await reply.code(200).send();
    const subscription = signers.find(({ name }) => name === click.about.subscription);
    if (subscription === undefined) return refused();
    if (deps.redisIsAway()) return refuse(reply, { status: 503, message: 'Redis is away. Try again in a moment.' });
    const name = nameIn(payload);
    const known = { ...click, by: `slack:${name}`, name, address, atMs: Number(timestamp) * 1_000 };
    const acted = actOn(known, subscription, payload.response_url, deps);
    started(acted);
    await withinTime(acted, ANSWER_WITHIN_MS);
    return await reply.code(200).header('cache-control', 'no-store').send();
  });
}

function headerOf({ headers }: FastifyRequest, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** The answer goes to Slack by itself, so that the click is not kept waiting for it. */
async function actOn(
  click: Click,
  { clicks, name: subscription }: Subscription,
  address: string | undefined,
  { act, log }: SlackDeps,
): Promise<void> {
  const text = await act(click);
  if (clicks === undefined || address === undefined) return;
  const answering = clicks.answer(address, { response_type: 'in_channel', replace_original: false, text });
  void answering.catch((error: unknown) => {
    log.warn({ subscription, error: messageOf(error) }, 'a click was carried out, and its answer not sent');
  });
}

function nameIn({ user: { id, username, name } }: Payload): string {
  const given = [username, name].find((one) => one !== undefined && one.trim() !== '') ?? id;
  return shorten(printable(given).trim(), LONGEST_NAME);
}

function payloadIn(body: Buffer): Payload | null {
  const text = new URLSearchParams(body.toString('utf8')).get('payload');
  try {
    return payloadSchema.safeParse(JSON.parse(text ?? '')).data ?? null;
  } catch {
    return null;
  }
}
