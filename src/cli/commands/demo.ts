import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Changefeed } from '../../actions/feed.js';
import { openChangefeed } from '../../service/changefeed.js';
import { quietLog } from '../../service/process.js';
import { withEnvironment } from '../../config/env.js';
import { parseConfig } from '../../config/parse.js';
import { createApp, listening } from '../../ops/server/http/app.js';
import { LIST_NAMES, readyMadeLists } from '../../crm/lists/lists.js';
import { listOf } from '../../events/envelope.js';
import { createSandbox, type Sandbox, type SandboxAddress } from '../../../sandbox/sandbox.js';
import { httpUrl, positiveNumber, wholeNumber } from '../arguments.js';
import { defineCommand, option, optionWithDefault } from '../command.js';
import { openForwarding } from '../forward.js';
import { systemClock } from '../../kit/clock.js';
import { variableIn } from '../../kit/schema/env-variable.js';
import type { Io } from '../io.js';
import { printEvent } from '../print-event.js';
import { baselineText, nextSweepText, sweepLines } from '../print-sweep.js';
import { languageOfTerminal } from '../answers.js';
import { formatsFor } from '../../words/format.js';
import { wordsFor, type Language } from '../../words/words.js';
import { progressView } from '../progress.js';
import { MOST_RECORDS } from './sandbox.js';

export const demoSandbox = ({ seed, people }: { seed: number; people: number }): Sandbox =>
  createSandbox({ seed, people, history: people * 2, activity: people * 2, control: { port: 0 } });

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
    const language = languageOfTerminal(io.env);
    const { t } = wordsFor(language);
    const forwarding = forwardTo === undefined ? undefined : openForwarding(forwardTo, undefined, { ...io, language });
    try {
      const address = await sandbox.start();
      io.err(`${io.colours.err.bold(t('demo.title'))}: ${madeText(sandbox, language)}`);
      receiver = await startDemoReceiver();
      const subscriptions = subscriptionsOf(receiver, stateDir);
      feed = await openDemo(address, { stateDir, io, subscriptions, language });
      await showBaseline(feed, io, language);
      sandbox.rate = rate;
      await showChanges(feed, { ...io, language }, { forwarding, edit: editCommand(sandbox, address) });
    } catch (error) {
      if (!io.signal.aborted) throw error;
    } finally {
      io.err(io.colours.err.dim(t('demo.stopping')));
      await feed?.stop();
      await Promise.all([receiver?.close(), forwarding?.close()]);
      await sandbox.stop();
      await rm(stateDir, { recursive: true, force: true });
    }
  },
});

/** With the history of people and organizations an edit is found within seconds, and its event says who made it. */
const HISTORIES = { people_history: true, organization_history: true };

export function madeText({ world }: Sandbox, language: Language): string {
  const lists = [...LIST_NAMES, ...Object.keys(HISTORIES)] as (keyof typeof world.counts)[];
  const records = lists.reduce((sum, list) => sum + (world.counts[list] ?? 0), 0);
  const { t } = wordsFor(language);
  return t('demo.made', { people: world.counts.people, records: records.toLocaleString('en'), lists: lists.length });
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

/** Makes a person's grade another one, in another terminal. */
function editCommand({ world }: Sandbox, { control }: SandboxAddress): string {
  const index = world.order('people').at(0) ?? 0;
  const grade = world.image('people', index)?.['등급'] === 'A' ? 'B' : 'A';
  const { port } = new URL(control?.url ?? 'http://127.0.0.1');
  return `npx changefeed sandbox set people ${world.idOf('people', index)} 등급=${grade} --control ${port}`;
}

interface DemoOptions {
  stateDir: string;
  io: Io;
  language: Language;
  subscriptions: readonly object[];
}

function openDemo({ url, token }: SandboxAddress, options: DemoOptions): Promise<Changefeed> {
  const { stateDir, io, language, subscriptions } = options;
  const workspaces = [{ name: 'demo', baseUrl: url, token, language, lists: HISTORIES }];
  const raw = { workspaces, subscriptions, redis: { prefix: `demo-${process.pid}` } };
  const config = parseConfig(withEnvironment(raw, io.env), {
    source: 'the demo',
    redisUrl: variableIn(io.env, 'REDIS_URL'),
  });
  return openChangefeed({ config, stateDir, temporary: true, log: quietLog(io), http: true });
}

async function showBaseline(feed: Changefeed, io: Io, language: Language): Promise<void> {
  const formats = formatsFor({ language, now: systemClock.now() });
  io.err(wordsFor(language).t('sweep.begins'));
  const progress = progressView(io, formats);
  try {
    const sweeps = await feed.sweep({ signal: io.signal, onProgress: (now) => progress.show(now) });
    progress.stop();
    for (const sweep of sweeps) if (sweep.outcome === 'incomplete') throw sweep.error;
    for (const line of sweepLines(sweeps, io.colours.err, formats)) io.err(line);
  } finally {
    progress.stop();
  }
}

async function showChanges(
  feed: Changefeed,
  io: Io & { language: Language },
  { forwarding, edit }: { forwarding: ReturnType<typeof openForwarding> | undefined; edit: string },
): Promise<void> {
  const formats = formatsFor({ language: io.language, now: systemClock.now() });
  await feed.start();
  const lists = (await feed.status()).workspaces.flatMap((workspace) => workspace.lists);
  io.err(baselineText(lists, { isNew: true, formats }));
  io.err(nextSweepText(lists, systemClock.now(), formats));
  if (feed.pageUrl !== null)
    for (const line of pageLines(feed.pageUrl, feed.pageLink ?? feed.pageUrl, io)) io.err(line);
  io.err(wordsFor(io.language).t('demo.edit', { command: edit }));
  io.err(io.colours.err.bold(wordsFor(io.language).t('demo.stop')));
  io.err('');
  for await (const { event } of feed.tail({ from: '0', signal: io.signal })) {
    if (forwarding !== undefined) await forwarding.send(event, feed.lists);
    // The event of its record says the same as a row of these histories.
    else if (listOf(event, readyMadeLists) === undefined) await printEvent(event, feed.lists, io);
  }
}

function pageLines(url: string, link: string, { language, colours }: Io & { language: Language }): string[] {
  const { t } = wordsFor(language);
  const views = ['changes', 'subscriptions', 'dead', 'todos'] as const;
  return [
    t('start.page', { link: colours.err.bold(link) }),
    ...views.map((view) => `  ${`${url}/#/${view}`.padEnd(url.length + 18)}${t(`demo.${view}`)}`),
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
