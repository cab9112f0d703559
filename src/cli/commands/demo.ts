import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChangefeed, type Changefeed } from '../../service/changefeed.js';
import { quietLog } from '../../service/process.js';
import { withHttpOfEnvironment } from '../../config/env.js';
import { parseConfig } from '../../config/parse.js';
import { createApp, listening } from '../../ops/server/http/app.js';
import { LIST_NAMES, readyMadeLists } from '../../crm/lists/lists.js';
import { listOf } from '../../events/envelope.js';
import { createSandbox, type Sandbox, type SandboxAddress } from '../../../sandbox/sandbox.js';
import { httpUrl, positiveNumber, wholeNumber } from '../arguments.js';
import { defineCommand, option, optionWithDefault } from '../command.js';
import { openForwarding } from '../forward.js';
import { systemClock } from '../../kit/clock.js';
import type { Io } from '../io.js';
import { printEvent } from '../print-event.js';
import { baselineText, nextSweepText, sweepLines } from '../print-sweep.js';
import { progressView } from '../progress.js';
import { MOST_RECORDS } from './sandbox.js';

export const demoSandbox = ({ seed, people }: { seed: number; people: number }): Sandbox =>
  createSandbox({ seed, people, history: people * 2, activity: people * 2 });

/** A synthetic workspace, a Changefeed that polls it, and a receiver, in one process. Leaves no data behind. */
export const demo = defineCommand({
  input: {
    seed: optionWithDefault(option('number', 'selects the workspace', wholeNumber()), 1),
    people: optionWithDefault(
      option('number', 'number of people; the other lists follow', wholeNumber({ most: MOST_RECORDS })),
      200,
    ),
    rate: optionWithDefault(option('number', 'changes per second', positiveNumber), 1),
    forwardTo: option('url', 'also post each event to this address, as "listen" does', httpUrl),
  },
  async run({ seed, people, rate, forwardTo }, io) {
    const sandbox = demoSandbox({ seed, people });
    const stateDir = await mkdtemp(join(tmpdir(), 'changefeed-demo-'));
    let feed: Changefeed | undefined;
    let receiver: Awaited<ReturnType<typeof startDemoReceiver>> | undefined;
    const forwarding = forwardTo === undefined ? undefined : openForwarding(forwardTo, undefined, io);
    try {
      const address = await sandbox.start();
      const title = io.colours.err.bold('Changefeed demo');
      io.err(`${title}: a synthetic CRM with ${countText(sandbox)}, polled like the real one.`);
      receiver = await startDemoReceiver();
      const subscriptions = subscriptionsOf(receiver, stateDir);
      feed = await openDemo(address, { stateDir, io, subscriptions });
      await showBaseline(feed, io);
      sandbox.rate = rate;
      await showChanges(feed, io, forwarding);
    } catch (error) {
      if (!io.signal.aborted) throw error;
    } finally {
      io.err(io.colours.err.dim('stopping …'));
      await feed?.stop();
      await Promise.all([receiver?.close(), forwarding?.close()]);
      await sandbox.stop();
      await rm(stateDir, { recursive: true, force: true });
    }
  },
});

/** With the history of people and organizations an edit is found within seconds, and its event says who made it. */
const HISTORIES = { people_history: true, organization_history: true };

export function countText({ world }: Sandbox): string {
  const lists = [...LIST_NAMES, ...Object.keys(HISTORIES)] as (keyof typeof world.counts)[];
  const total = lists.reduce((sum, list) => sum + (world.counts[list] ?? 0), 0);
  return `${world.counts.people} people and ${total.toLocaleString('en')} records in ${lists.length} lists`;
}

function subscriptionsOf({ opsUrl, chatUrl }: { opsUrl: string; chatUrl: string }, stateDir: string): object[] {
  const allowHosts = ['127.0.0.1'];
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const retry = { attempts: OPS_ATTEMPTS, delay: '1s', maxDelay: '2s' };
  const ofTodos = ['crm.todo.completed', 'crm.todo.overdue'];
  return [
    { handler: 'webhook', name: 'ops', on: ['crm.todo.*', 'crm.person.*'], url: opsUrl, allowHosts, secret, retry },
    { handler: 'message', name: 'team-chat', on: ofTodos, url: chatUrl, allowHosts },
    { handler: 'ndjson', name: 'archive', on: ['crm.*'], path: join(stateDir, 'events.ndjson') },
  ];
}

interface DemoOptions {
  stateDir: string;
  io: Io;
  subscriptions: readonly object[];
}

function openDemo({ url, token }: SandboxAddress, { stateDir, io, subscriptions }: DemoOptions): Promise<Changefeed> {
  const workspaces = [{ name: 'demo', baseUrl: url, token, lists: HISTORIES }];
  const raw = { workspaces, subscriptions, redis: { prefix: `demo-${process.pid}` } };
  const config = parseConfig(withHttpOfEnvironment(raw, io.env), { source: 'the demo', redisUrl: io.env['REDIS_URL'] });
  return openChangefeed({ config, stateDir, temporary: true, log: quietLog(io), http: true });
}

async function showBaseline(feed: Changefeed, io: Io): Promise<void> {
  io.err('Baseline: every list is read once and stored; no events yet.');
  const progress = progressView(io);
  try {
    const sweeps = await feed.sweep({ signal: io.signal, onProgress: (now) => progress.show(now) });
    progress.stop();
    for (const sweep of sweeps) if (sweep.outcome === 'incomplete') throw sweep.error;
    for (const line of sweepLines(sweeps, io.colours.err)) io.err(line);
  } finally {
    progress.stop();
  }
}

async function showChanges(feed: Changefeed, io: Io, forwarding?: ReturnType<typeof openForwarding>): Promise<void> {
  await feed.start();
  const lists = (await feed.status()).workspaces.flatMap((workspace) => workspace.lists);
  io.err(baselineText(lists, { isNew: true }));
  io.err(nextSweepText(lists, systemClock.now()));
  if (feed.pageUrl !== null)
    for (const line of pageLines(feed.pageUrl, feed.pageLink ?? feed.pageUrl, io)) io.err(line);
  io.err(io.colours.err.bold('Press Ctrl+C to stop.'));
  io.err('');
  for await (const { event } of feed.tail({ from: '0', signal: io.signal })) {
    if (forwarding !== undefined) await forwarding.send(event, feed.lists);
    // The event of its record says the same as a row of these histories.
    else if (listOf(event, readyMadeLists) === undefined) await printEvent(event, feed.lists, io);
  }
}

function pageLines(url: string, link: string, io: Io): string[] {
  const views = [
    ['changes', 'each change as it is found'],
    ['subscriptions', 'three receivers; the one of "ops" fails now and then'],
    ['dead', 'what it has refused three times: press Retry'],
    ['todos', 'who has what open, due and overdue'],
  ];
  return [
    `The status page: ${io.colours.err.bold(link)}`,
    ...views.map(([view, shows]) => `  ${`${url}/#/${view}`.padEnd(url.length + 18)}${shows}`),
  ];
}

const OPS_ATTEMPTS = 3;
/** Counts the events that reach `/ops`. The first dead letter comes early: a viewer waits seconds, not minutes. */
const REFUSED_ONCE = 6;
const REFUSED_TO_THE_END = 40;

/** The server that the subscriptions send to. One of its addresses fails now and then, as real ones do. */
async function startDemoReceiver() {
  const refusals = new Map<string, number>();
  let count = 0;
  const app = createApp({});
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, payload, done) => {
    payload.resume();
    done(null);
  });
  app.post('/chat', (_request, reply) => reply.code(204).send());
  app.post('/ops', (request, reply) => {
    const id = String(request.headers['webhook-id']);
    const left = refusals.get(id) ?? refusalsOf(++count);
    refusals.set(id, left - 1);
    return left > 0 ? reply.code(503).send('the order system is being deployed') : reply.code(204).send();
  });
  const server = listening(app, { host: '127.0.0.1', port: 0 });
  const url = await server.start();
  return {
    chatUrl: `${url}/chat`,
    /** Refuses the first attempt of some events and all attempts of a few; what a person sends again, it takes. */
    opsUrl: `${url}/ops`,
    close: () => server.stop(),
  };
}

function refusalsOf(nth: number): number {
  if (nth % REFUSED_TO_THE_END === 3) return OPS_ATTEMPTS;
  return nth % REFUSED_ONCE === 2 ? 1 : 0;
}
