/** Every kind of ours holds what kinds by others must hold. */
import { mkdtempSync, existsSync, mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { idOf } from '../../../src/delivery/handlers/email/mail.js';
import { KINDS } from '../../../src/delivery/handlers/registry.js';
import { bullmq, email, message, ndjson, postgres, todoReport, webhook } from '../../../src/index.js';
import { eventOf, runHandler } from '../../../src/testing/index.js';
import { kindConformance, type Arrival, type KindReceiver, type KindUnderTest } from '../../../src/testing/kind.js';
import { openGate } from '../../support/gate.js';
import { gateState, httpReceiver } from '../../support/kind-receivers.js';
import { obtainPostgres, type TestPostgres } from '../../support/postgres.js';
import { useRedis } from '../../support/redis.js';
import { refusal, startSmtp } from '../../support/smtp.js';

const server = useRedis();
let database: TestPostgres;
beforeAll(async () => {
  database = await obtainPostgres();
});
afterAll(async () => {
  if (database.outcome === 'found') await database.close();
});

const KEY = 'a-long-key-in-the-path';
const SECRET = Buffer.alloc(32, 7).toString('base64');
const allowHosts = ['127.0.0.1'];
const urlAt = (port: number): string => `http://127.0.0.1:${port}/hooks/${KEY}`;

const chat = (more: object): Promise<KindReceiver> =>
  httpReceiver({
    optionsAt: (port) => ({ url: urlAt(port), allowHosts, ...more }),
    secrets: [KEY],
    read: (_, body) => ({ id: null, content: unescaped((JSON.parse(body) as { text: string }).text) }),
  });

const unescaped = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

const SHORT = 'people read it: it is shortened, and has no control characters';
const OF_A_CHAT = { controls: SHORT, nul: SHORT, huge: SHORT };

async function webhookReceiver(): Promise<KindReceiver> {
  return await httpReceiver({
    optionsAt: (port) => ({
      url: urlAt(port),
      allowHosts,
      secret: `whsec_${SECRET}`,
      headers: { 'x-api-key': 'key-of-a-gateway' },
    }),
    secrets: [KEY, SECRET, 'key-of-a-gateway'],
    read: ({ headers }, body) => ({ id: String(headers['webhook-id']), content: JSON.parse(body) as unknown }),
  });
}

async function smtpReceiver(): Promise<KindReceiver> {
  let refuses = false;
  const smtp = await startSmtp({
    onAuth: (_auth, _session, done) => done(null, { user: 'crm' }),
    onRcptTo: (_address, _session, done) => done(refuses ? refusal(550, 'No such user') : null),
  });
  const gate = await openGate(smtp);
  return {
    options: {
      ...{ server: `smtp://crm:pass-word-1@127.0.0.1:${gate.port}`, allowHosts, digest: false },
      ...{ sender: 'crm@acme.example', to: 'ops@acme.example' },
    },
    secrets: ['pass-word-1'],
    arrived: () =>
      smtp.mails.map(({ headers, text, subject }) => ({ id: headers['message-id'] ?? null, content: [subject, text] })),
    become(state) {
      refuses = state === 'refusing';
      gate.become(gateState(state));
    },
    connections: () => gate.connections(),
    close: () => gate.close(),
  };
}

function fileReceiver(): Promise<KindReceiver> {
  const folder = mkdtempSync(join(tmpdir(), 'changefeed-kinds-'));
  const path = join(folder, 'events.ndjson');
  const lines = (): string[] => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []);
  return Promise.resolve({
    options: { path },
    secrets: [],
    arrived: () =>
      lines()
        .map((line) => JSON.parse(line) as { id: string })
        .map((event): Arrival => ({ id: event.id, content: event })),
    become(state) {
      if (state === 'down') mkdirSync(path);
      else if (existsSync(path)) rmdirSync(path);
    },
    connections: () => 0,
    close: () => rm(folder, { recursive: true }),
  });
}

async function redisReceiver(): Promise<KindReceiver> {
  const { hostname: host, port } = new URL(server.url);
  const gate = await openGate({ host, port: Number(port) });
  const { prefix } = server.keys;
  const user = `user-${gate.port}`;
  await server.redis.acl('SETUSER', user, 'on', '>key-of-redis', '~*', '&*', '+@all');
  const theirs = new Queue('crm', {
    prefix,
    connection: server.connect({ maxRetriesPerRequest: null }),
    skipMetasUpdate: true,
  });
  await theirs.waitUntilReady();
  return {
    options: { queue: 'crm', prefix, redis: `redis://${user}:key-of-redis@127.0.0.1:${gate.port}/0` },
    secrets: ['key-of-redis'],
    arrived: async () =>
      (await theirs.getJobs(['waiting'], 0, -1, true)).map(({ id, data }) => ({
        id: id ?? null,
        content: data as unknown,
      })),
    become: (state) => gate.become(gateState(state)),
    connections: () => gate.connections(),
    async close() {
      await server.redis.acl('DELUSER', user);
      await theirs.close();
      await gate.close();
    },
  };
}

async function databaseReceiver(): Promise<KindReceiver> {
  if (database.outcome !== 'found') throw new Error(database.reason);
  const url = new URL(database.url);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  url.host = `127.0.0.1:${gate.port}`;
  url.searchParams.set('application_name', 'key-in-the-url');
  const schema = `kinds_${process.pid}_${gate.port}`;
  const options = { url: url.href, schema, history: true };
  const rule = (sql: string) => client.query(`ALTER TABLE ${schema}.people ${sql}`).catch(() => undefined);
  return {
    options,
    secrets: ['key-in-the-url'],
    async arrived() {
      const { rows } = await client.query<{ event: string; data: unknown }>(
        `SELECT event_id AS event, data FROM ${schema}.people_versions ORDER BY sequence`,
      );
      return rows.map(({ event, data }) => ({ id: event, content: data }));
    },
    async become(state) {
      gate.become(gateState(state));
      await rule('DROP CONSTRAINT IF EXISTS nothing');
      if (state === 'refusing') {
        const first = postgres({ name: 'first', ...options });
        await runHandler(first, eventOf('crm.person.created'));
        await first.close?.();
        await rule('ADD CONSTRAINT nothing CHECK (false) NOT VALID');
      }
    },
    connections: () => gate.connections(),
    async close() {
      await gate.close();
      await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await client.end();
    },
  };
}

const NO_WAIT = 'it has no answer that asks for a wait';
const NOT_FOR_GOOD = 'it refuses nothing for good';
const AT_ONCE = 'it answers at once, or not at all';

const OURS: KindUnderTest[] = [
  { kind: webhook, receiver: webhookReceiver, wrong: [{ options: { url: 'http://crm.example/' }, path: 'url' }] },
  {
    ...{ kind: message, receiver: () => chat({}), idOf: () => null, without: OF_A_CHAT },
    wrong: [{ options: { service: 'irc' }, path: 'service' }],
  },
  {
    ...{ kind: todoReport, receiver: () => chat({ at: '09:00' }), idOf: () => null, without: OF_A_CHAT },
    wrong: [{ options: { at: '9 in the morning' }, path: 'at' }],
  },
  {
    ...{ kind: email, receiver: smtpReceiver, without: { ...OF_A_CHAT, limits: NO_WAIT } },
    wrong: [{ options: { sender: 'nobody' }, path: 'sender' }],
    idOf: ({ id }) => idOf(['conformance', 'test', id], 'acme.example'),
  },
  {
    ...{ kind: bullmq, receiver: redisReceiver, without: { refuses: NOT_FOR_GOOD, limits: NO_WAIT } },
    wrong: [{ options: { queue: 'a:b' }, path: 'queue' }],
  },
  {
    ...{ kind: postgres, receiver: databaseReceiver, without: { nul: 'PostgreSQL stores none', limits: NO_WAIT } },
    wrong: [{ options: { columns: { people: { a: 'money' } } }, path: 'columns.people.a' }],
  },
  {
    ...{ kind: ndjson, receiver: fileReceiver, wrong: [{ options: { path: 1 }, path: 'path' }] },
    without: { slow: AT_ONCE, stops: AT_ONCE, refuses: NOT_FOR_GOOD, limits: NO_WAIT },
  },
];

describe('kinds of handlers', () => {
  it('kinds: each of ours is checked', () => {
    // `pull` sends nothing anywhere.
    const sending = KINDS.map(({ handler }) => handler).filter((name) => name !== 'pull');
    expect(OURS.map(({ kind }) => kind.handler).sort()).toEqual(sending.sort());
  });

  const checks = OURS.flatMap(kindConformance).filter(({ skipped }) => skipped === undefined);
  it.each(checks.map((one) => [one.name, one.run] as const))('kinds: %s', async (_name, run) => {
    await run();
  });
});
