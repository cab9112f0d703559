/**
 * What every kind of handler must hold, as checks for its own tests: `for (const { name, run } of kindConformance({ … })) test(name, run)`. A check
 * throws an `AssertionError` of Node, so any runner can run it. Each has its own receiver.
 */
import assert from 'node:assert/strict';
import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { isSteering, partsOf } from '../delivery/handlers/errors.js';
import type { Kind } from '../delivery/handlers/kind.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import type { ChangeEvent } from '../events/types.js';
import { ChangefeedError } from '../kit/errors.js';
import { eventOf } from './event-of.js';
import type { FakeContextOptions, LogLine } from './fake-context.js';
import { runHandler, runReport, type RunOutcome } from './run-handler.js';
import { eventually, within } from './waiting.js';

/** What a receiver does with all that comes from now on. `refusing`: for good. `limiting`: it asks to be tried again later. */
export type ReceiverState = 'accepting' | 'silent' | 'down' | 'refusing' | 'limiting';

/** What has arrived at a receiver. */
export interface Arrival {
  /** The idempotency key; null where there is none. */
  readonly id: string | null;
  /** What was received, read as a receiver reads it: texts, or objects and arrays of them. */
  readonly content: unknown;
}

/** The other side of a kind in a test: a fake of its protocol, or the real thing. */
export interface KindReceiver {
  /** The options of the kind that lead to it, those of secrets included; without `name`. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Texts in these options that no message may show. */
  readonly secrets: readonly string[];
  /** All that it has accepted, in order. */
  arrived(): readonly Arrival[] | Promise<readonly Arrival[]>;
  /** Never called for a state that is only needed by checks in `without`. */
  become(state: ReceiverState): void | Promise<void>;
  /** How many connections to it are open; 0 where there are none, as with a file. */
  connections(): number | Promise<number>;
  /** Ends it. */
  close(): Promise<void>;
}

/** The name of a check. */
export type KindCheck = (typeof CHECKS)[number][0];

/** A kind, and what its checks need. */
export interface KindUnderTest {
  /** What `defineKind` has returned. */
  kind: Pick<Kind, 'handler' | 'build'>;
  /** Starts a receiver that accepts. Called for each check. */
  receiver: () => Promise<KindReceiver>;
  /** Options that are refused, each with the path that the message must name: `{ options: { brokers: [] }, path: 'brokers' }`. */
  wrong: readonly { readonly options: Readonly<Record<string, unknown>>; readonly path: string }[];
  /** The idempotency key of an event. @defaultValue its id */
  idOf?: (event: ChangeEvent) => string | null;
  /** How long a receiver that is `limiting` asks to be left alone, ms. @defaultValue 7000 */
  limitMs?: number;
  /** Checks that do not apply, each with the reason: `{ limits: 'a file has no limit of requests' }`. @defaultValue none */
  without?: Readonly<Partial<Record<KindCheck, string>>>;
}

/** One check. */
export interface ConformanceCheck {
  /** For the name of a test: `kafka delivers: an event arrives once, with its id`. */
  readonly name: string;
  /** Why it does not apply; undefined where it does. */
  readonly skipped: string | undefined;
  /** Does nothing where it does not apply. @throws AssertionError */
  readonly run: () => Promise<void>;
}

/** @returns one check for each promise of a kind, in the order in which a new kind comes to hold them */
export function kindConformance(tested: KindUnderTest): ConformanceCheck[] {
  const { kind, without = {} } = tested;
  return CHECKS.map(([check, sentence, run]) => {
    const skipped = without[check];
    const name = `${kind.handler} ${check}: ${sentence}`;
    return { name, skipped, run: () => (skipped === undefined ? withReceiver(tested, run) : Promise.resolve()) };
  });
}

const CHECKS = [
  ['options', 'wrong ones are refused with their path, and no message has a secret', refusesOptions],
  ['delivers', 'an event arrives once, with its id', delivers],
  ['repeats', 'an event that is sent again, also by another process, has the same id and content', repeats],
  ['order', 'events that are given one by one arrive in this order', keepsOrder],
  ['controls', 'control characters arrive as they are', arrives('a\u0007b\u001b[31m\r\n\u2028\u202e end')],
  ['nul', 'a NUL character arrives as it is', arrives('a\u0000 end')],
  ['templates', 'what looks like a template, a formula or markup is text', arrives('{{title}} ${x} =1+1 <b>&amp;')],
  ['huge', 'a text of 100,000 characters arrives whole', arrives(`${'가힣'.repeat(50_000)} end`)],
  ['slow', 'a receiver that says nothing ends the attempt in its time, and connections do not pile up', endsInTime],
  ['down', 'one that is away is tried again, and gets the event when it is back', triesAgain],
  ['refuses', 'a refusal for good is a dead letter at once', diesAtOnce],
  ['limits', 'a receiver that is overloaded is tried again when it has asked for it', waitsAsAsked],
  ['closes', 'close ends all connections, and nothing keeps the process alive', closes],
  ['quiet', 'no error has a secret, and no log has one, or what a record contains', saysNothing],
  ['stops', 'a stop while it delivers ends the attempt, and the event is not lost', stops],
] as const satisfies readonly (readonly [string, string, (given: Given) => Promise<void>])[];

interface Given {
  tested: KindUnderTest;
  receiver: KindReceiver;
  /** A subscription at the receiver; it is closed after the check. */
  open: (timeoutMs?: number) => Subscription;
}

const TIMEOUT_MS = 700;
/** What a slow machine takes on top of it. */
const GRACE_MS = 5_000;
const CLOSED_MS = 2_500;

async function withReceiver(tested: KindUnderTest, run: (given: Given) => Promise<void>): Promise<void> {
  const receiver = await tested.receiver();
  const opened: Subscription[] = [];
  const open = (timeoutMs = 10_000): Subscription => {
    const one = tested.kind.build({ name: 'conformance', timeout: `${timeoutMs}ms`, ...receiver.options });
    opened.push(one);
    return one;
  };
  try {
    await run({ tested, receiver, open });
  } finally {
    for (const { close } of opened)
      await within(GRACE_MS, 'close', close?.() ?? Promise.resolve()).catch(() => undefined);
    await receiver.close();
  }
}

const RECORD = 'conformance-record';

function named(text: string, sequence = 1): ChangeEvent {
  const before = { id: RECORD, 이름: `before ${sequence}` };
  return eventOf('crm.person.updated', { before, after: { 이름: text }, sequence });
}

type Attempt = RunOutcome & { lines: readonly LogLine[] };

async function attempt(
  subscription: Subscription,
  event: ChangeEvent,
  options: FakeContextOptions = {},
): Promise<Attempt> {
  const given = { subscription: subscription.name, list: 'people', ...options } as const;
  if (subscription.report !== undefined) return await runReport(subscription, event, given);
  const { runs, lines } = await runHandler(subscription, event, given);
  const [run] = runs;
  assert(run !== undefined, 'The subscription does not get an event crm.person.updated.');
  return { ...run, lines };
}

async function deliver(subscription: Subscription, event: ChangeEvent, options?: FakeContextOptions): Promise<void> {
  const run = await attempt(subscription, event, options);
  if (run.outcome !== 'delivered') assert.fail(`Expected the event to be delivered; ${described(run)}`);
}

function described(run: Attempt): string {
  return 'error' in run ? `${run.outcome}: ${run.error.message}` : run.outcome;
}

/** A text of the content. */
function has(content: unknown, text: string): boolean {
  if (typeof content === 'string') return content.includes(text);
  return typeof content === 'object' && content !== null && Object.values(content).some((one) => has(one, text));
}

function refusesOptions({ tested, receiver: { options, secrets } }: Given): Promise<void> {
  const { kind, wrong } = tested;
  const all = JSON.stringify(options);
  const missing = secrets.filter((one) => !all.includes(JSON.stringify(one).slice(1, -1)));
  assert.deepEqual(missing, [], 'Each secret must be in the options.');
  const misspelt = Object.entries(options).map(([option, value]) => ({
    options: { [`${option}Q`]: value },
    path: `${option}Q`,
  }));
  const misplaced = Object.entries(options).map(([option, value]) => ({
    options: { [option]: { [option]: value } },
    path: option,
  }));
  for (const { options: bad, path } of [...wrong, ...misspelt, ...misplaced]) {
    const message = refusalOf(() => kind.build({ name: 'conformance', ...options, ...bad }), path);
    assert(message.includes(path), `The refusal of ${path} does not name it: ${message}`);
    assertWithout(message, secrets, `The refusal of ${path}`);
  }
  assert.match(
    refusalOf(() => kind.build(options), 'name'),
    /name/,
  );
  return Promise.resolve();
}

function refusalOf(build: () => unknown, path: string): string {
  try {
    build();
  } catch (error) {
    assert(error instanceof Error && 'code' in error, `${path}: expected CF_CONFIG_INVALID, found ${String(error)}`);
    assert.equal(error.code, 'CF_CONFIG_INVALID', error.message);
    return error.message;
  }
  return assert.fail(`${path} is accepted.`);
}

function assertWithout(text: string, secrets: readonly string[], what: string): void {
  assert(!secrets.some((one) => text.includes(one)), `${what} has a secret, or what a record contains.`);
}

async function delivers({ tested, receiver, open }: Given): Promise<void> {
  const event = named('conformance first');
  await deliver(open(), event);
  const arrived = await receiver.arrived();
  assert.equal(arrived.length, 1, `Arrived ${arrived.length} times.`);
  assert.equal(arrived[0]?.id, idOf(tested, event), 'It has another idempotency key.');
  assert(has(arrived[0].content, 'conformance first'), 'What arrived has no text of the record.');
}

function idOf({ idOf: own = ({ id }) => id }: KindUnderTest, event: ChangeEvent): string | null {
  return own(event);
}

async function repeats({ tested, receiver, open }: Given): Promise<void> {
  const [event, other] = [named('conformance repeated'), named('conformance other', 2)];
  await deliver(open(), event);
  await deliver(open(), event, { attempt: 2 });
  await deliver(open(), other);
  const arrived = (await receiver.arrived()).filter(({ content }) => !has(content, 'conformance other'));
  const [first] = arrived;
  assert(first !== undefined && arrived.length <= 2, `Arrived ${arrived.length} times.`);
  assert.equal(first.id, idOf(tested, event), 'It has another idempotency key.');
  for (const one of arrived) assert.deepEqual(one, first, 'It differs when it is sent again.');
}

async function keepsOrder({ receiver, open }: Given): Promise<void> {
  const subscription = open();
  const texts = Array.from({ length: 6 }, (_, index) => `conformance ${index} of 6`);
  for (const [index, text] of texts.entries()) await deliver(subscription, named(text, index + 1));
  const arrived = await receiver.arrived();
  const order = arrived.map(({ content }) => texts.find((text) => has(content, text)));
  assert.deepEqual(order, texts);
}

function arrives(text: string): (given: Given) => Promise<void> {
  return async ({ receiver, open }) => {
    await deliver(open(), named(text));
    const arrived = await receiver.arrived();
    assert(
      arrived.some(({ content }) => has(content, text)),
      'The text has arrived in another form.',
    );
  };
}

async function endsInTime({ receiver, open }: Given): Promise<void> {
  const subscription = open(TIMEOUT_MS);
  // A connection that falls silent is worse than one that is not made.
  await eventually(() => deliver(subscription, named('conformance before')));
  await receiver.become('silent');
  let first = 0;
  for (let nth = 1; nth <= 3; nth += 1) {
    const run = await within(
      TIMEOUT_MS + GRACE_MS,
      'an attempt',
      attempt(subscription, named(`conformance ${nth}`, nth + 1)),
    );
    assert.equal(run.outcome, 'retry', described(run));
    if (nth === 1) first = await receiver.connections();
  }
  await eventually(async () => {
    const open = await receiver.connections();
    assert(
      open <= Math.max(1, first),
      `After three attempts there are ${open} connections, after one there were ${first}.`,
    );
  }, GRACE_MS);
  await arrivesAgain(receiver, subscription);
}

async function arrivesAgain(receiver: KindReceiver, subscription: Subscription): Promise<void> {
  await receiver.become('accepting');
  await eventually(() => deliver(subscription, named('conformance at last', 9)));
  const arrived = await receiver.arrived();
  assert(
    arrived.some(({ content }) => has(content, 'conformance at last')),
    'It is delivered, and has not arrived.',
  );
}

async function triesAgain({ receiver, open }: Given): Promise<void> {
  await receiver.become('down');
  const subscription = open(TIMEOUT_MS);
  const run = await within(TIMEOUT_MS + GRACE_MS, 'an attempt', attempt(subscription, named('conformance away')));
  assert.equal(run.outcome, 'retry', described(run));
  assertExplained(run);
  const last = await attempt(subscription, named('conformance away'), { attempt: subscription.retry.attempts });
  assert.equal(last.outcome, 'dead', 'The last attempt makes no dead letter.');
  await arrivesAgain(receiver, subscription);
}

/** Of an error that is not explained, logs have its class alone. */
function assertExplained(run: Attempt): void {
  if (!('error' in run)) return;
  const isExplained = isSteering(run.error) || run.error instanceof ChangefeedError;
  assert(isExplained, `"failure" does not explain it, so that no log says what is wrong: ${run.error.message}`);
}

async function diesAtOnce({ receiver, open }: Given): Promise<void> {
  await receiver.become('refusing');
  const run = await attempt(open(), named('conformance refused'));
  assert.equal(run.outcome, 'dead', described(run));
  assertExplained(run);
}

async function waitsAsAsked({ tested: { limitMs = 7_000 }, receiver, open }: Given): Promise<void> {
  await receiver.become('limiting');
  const subscription = open();
  const run = await attempt(subscription, named('conformance limited'));
  assert(run.outcome === 'retry', described(run));
  assert.equal(run.waitMs, limitMs, 'It waits for another time.');
  await arrivesAgain(receiver, subscription);
}

/** What can keep a process alive, by the names of `async_hooks`. */
const KEEPS_ALIVE = /^(Timeout|TCPWRAP|TLSWRAP|PIPEWRAP|UDPWRAP|FSEVENTWRAP|PROCESSWRAP|WORKER)$/;
const inCheck = new AsyncLocalStorage<Map<number, object>>();

/** Only what the kind itself has begun is counted: the receiver and the runner of the tests are in the same process. */
async function closes({ receiver, open }: Given): Promise<void> {
  const begun = new Map<number, { type: string; hasRef?: () => boolean }>();
  const hook = createHook({
    init(id, type, _trigger, resource: { hasRef?: () => boolean }) {
      if (KEEPS_ALIVE.test(type) && inCheck.getStore() === begun)
        begun.set(id, { type, hasRef: () => resource.hasRef?.() ?? true });
    },
    destroy: (id) => void begun.delete(id),
  }).enable();
  try {
    await inCheck.run(begun, async () => {
      const subscription = open();
      await deliver(subscription, named('conformance closed'));
      await within(GRACE_MS, 'close', subscription.close?.() ?? Promise.resolve());
    });
    await eventually(async () => {
      assert.equal(await receiver.connections(), 0, 'Connections are open after close.');
      const left = [...begun.values()].filter(({ hasRef }) => hasRef?.() !== false).map(({ type }) => type);
      assert.deepEqual(left, [], 'This keeps the process alive after close.');
      // Sooner than a client ends what it keeps for later.
    }, CLOSED_MS);
  } finally {
    hook.disable();
  }
}

/** The states with which each check begins. */
const STATE_OF = { silent: 'slow', down: 'down', refusing: 'refuses', limiting: 'limits' } as const;

async function saysNothing({ tested: { without = {} }, receiver, open }: Given): Promise<void> {
  const content = 'conformance-private-content';
  const states = (['down', 'refusing', 'limiting', 'silent'] as const).filter(
    (state) => without[STATE_OF[state]] === undefined,
  );
  for (const state of states) {
    await receiver.become(state);
    const run = await attempt(open(TIMEOUT_MS), named(content));
    assert('error' in run, `${state}: ${described(run)}`);
    const { known, whole } = partsOf(run.error);
    assertWithout(`${whole} ${run.error.stack ?? ''}`, receiver.secrets, `${state}: the error`);
    assertWithout(`${known} ${JSON.stringify(run.lines)}`, [...receiver.secrets, content], `${state}: what is logged`);
  }
  await receiver.become('accepting');
  const { lines } = await attempt(open(), named(content));
  assertWithout(JSON.stringify(lines), [...receiver.secrets, content], 'A log of a delivery');
}

async function stops({ receiver, open }: Given): Promise<void> {
  const subscription = open(2_000);
  await deliver(subscription, named('conformance before'));
  await receiver.become('silent');
  const stop = new AbortController();
  const attempted = attempt(subscription, named('conformance stopped', 2), { signal: stop.signal });
  await eventually(async () => assert.notEqual(await receiver.connections(), 0), 1_000).catch(() => undefined);
  stop.abort();
  const run = await within(2_000 + GRACE_MS, 'the attempt', attempted);
  assert.equal(run.outcome, 'retry', described(run));
  await within(GRACE_MS, 'close', subscription.close?.() ?? Promise.resolve());
  await eventually(async () => assert.equal(await receiver.connections(), 0, 'Connections are open after close.'));
  await arrivesAgain(receiver, open());
}
