/** Sends one example event to a handler, as a test: it is in no log, and no receipt is kept of it. */
import { randomUUID } from 'node:crypto';
import type { TestCall } from '../actions/feed.js';
import { listsOf } from '../config/lists.js';
import type { Config } from '../config/schema.js';
import { attemptDelivery, Interrupt, type Surroundings } from '../delivery/run/attempt.js';
import { recordPage } from '../delivery/run/page-links.js';
import type { OnceStore } from '../delivery/run/once.js';
import { messageOf, usage } from '../kit/errors.js';
import { NOTICE_TYPES, typesOf } from '../events/catalogue.js';
import { workspaceOf } from '../events/envelope.js';
import type { CrmRecord } from '../crm/record.js';
import { exampleEvent } from '../events/example.js';
import { compileSelection, readsWorkspace } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import type { Subscription, TestOutcome } from '../delivery/handlers/handler.js';
import { isoTime, onAbort, systemClock } from '../kit/clock.js';
import { silentLog } from '../kit/log.js';
import { didYouMean } from '../kit/schema/did-you-mean.js';

const NEVER = new AbortController().signal;

/** @throws ChangefeedError CF_USAGE */
export async function sendTest(name: string, call: TestCall, config: Config): Promise<TestOutcome> {
  const subscription = config.subscriptions.find((one) => one.name === name);
  const names = config.subscriptions.map((one) => one.name);
  if (subscription === undefined)
    throw usage(`There is no subscription "${name}"${didYouMean(name, names)}. Known: ${names.join(', ') || 'none'}.`);
  const { ping, report, handler, pull } = subscription;
  const { type: asked, run = false, signal = NEVER } = call;
  if (ping !== undefined && asked === undefined) return await ping({ signal });
  if (report !== undefined) throw usage(`test: "${name}" sends reports and gets no events.`);
  if (pull !== undefined) throw usage(`test: nothing is sent to the consumer "${name}": it asks for its events.`);
  if (handler === 'custom' && !run)
    throw usage(
      `test: "${name}" is a function, which may do anything with the event. Confirm that it is to run: --yes (in code and in the API: run: true).`,
    );
  const event = exampleFor(subscription, asked, config);
  return await deliverTest(subscription, event, config, signal);
}

/** Sends an event to a handler, as a test: a webhook gets it as it is. */
export async function deliverTest(
  subscription: Subscription,
  event: ChangeEvent,
  config: Config,
  signal: AbortSignal,
): Promise<TestOutcome> {
  const { ping } = subscription;
  if (ping !== undefined) return await ping({ signal, event });
  return await handled(subscription, event, config, signal);
}

/** As if this stored record had just changed so. */
export function exampleWith(example: ChangeEvent, stored: CrmRecord): ChangeEvent {
  const { before, after, changes } = example.data;
  const imageOf = (side: 'before' | 'after'): CrmRecord => {
    const changed = changes.map((change) => [change.field, change[side]]);
    return { ...stored, ...(Object.fromEntries(changed) as object), id: stored.id };
  };
  const images = { before: before && imageOf('before'), after: after && imageOf('after') };
  return { ...example, subject: stored.id, data: { ...example.data, ...images } };
}

export function exampleFor(subscription: Subscription, asked: string | undefined, { workspaces }: Config): ChangeEvent {
  const lists = listsOf(workspaces);
  const workspace = workspaces.find(({ name }) => readsWorkspace(subscription, name))?.name ?? '';
  const build = (type: string): ChangeEvent =>
    exampleEvent(type, {
      id: `evt_${randomUUID().replaceAll('-', '')}`,
      workspace,
      at: isoTime(systemClock.now()),
      lists,
    });
  const types: string[] = [...lists.all.flatMap(typesOf), ...NOTICE_TYPES];
  const selects = compileSelection({ on: subscription.on, lists: subscription.lists, catalogue: lists });
  const type = asked ?? types.find((one) => selects(build(one))) ?? '';
  if (types.includes(type)) return build(type);
  throw usage(
    `test, type: found "${type}"${didYouMean(type, types)}; allowed: an event type such as crm.todo.completed.`,
  );
}

async function handled(
  subscription: Subscription,
  event: ChangeEvent,
  config: Config,
  signal: AbortSignal,
): Promise<TestOutcome> {
  const { name, handler, digest, digestOnly = false } = subscription;
  // The example is sent whether or not `where` selects it.
  const { where: _, ...asked } = { ...subscription, digestOnly: digestOnly || digest !== undefined };
  const interrupt = new Interrupt();
  const forget = onAbort(signal, () => interrupt.abort('stopping'));
  const workspace = workspaceOf(event);
  const surroundings = surroundingsIn(config, workspace);
  const beganMs = systemClock.monotonic();
  const problem = await attemptDelivery({
    ...{ subscription: asked, attempt: 1, interrupt, clock: systemClock, logger: silentLog, test: true },
    once: NO_MARKS,
    surroundingsOf: () => surroundings,
    delivery: { id: `${event.id}.0-1`, workspace, logId: '0-1', event },
  }).then(() => null, messageOf);
  forget();
  const { id, type } = event;
  const ms = systemClock.monotonic() - beganMs;
  const outcome = problem === null ? 'accepted' : 'refused';
  return { subscription: name, place: handler, id, type, signatures: [], outcome, status: null, ms, body: '', problem };
}

/** Every effect runs: a test keeps no marks. */
const NO_MARKS: OnceStore = {
  begin: () => Promise.resolve('begun'),
  finish: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

/** Of a workspace whose records are not read. */
function surroundingsIn({ workspaces, people, http }: Config, name: string): Surroundings {
  const lists = listsOf(workspaces);
  const { data = {}, language = 'en', timeZone = 'UTC' } = workspaces.find((one) => one.name === name) ?? {};
  return {
    ...{ data, language, timeZone, lists, links: new Map(), people },
    comparisonOf: () => undefined,
    pageOf: (event) => recordPage(event, { pageUrl: http.publicUrl, lists }),
    mutes: { isMuted: () => Promise.resolve(false), all: () => Promise.resolve([]) },
    record: () => Promise.resolve(null),
  };
}
