/** The kinds of examples/kinds, as others write them: checked as ours are, and named by a configuration in JSON. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { googleSheets } from '../../../examples/kinds/google-sheets.js';
import { kafka } from '../../../examples/kinds/kafka.js';
import { loadConfig } from '../../../src/config/load.js';
import { eventOf, runHandler } from '../../../src/testing/index.js';
import { kindConformance, type KindReceiver, type KindUnderTest } from '../../../src/testing/kind.js';
import { testFolder } from '../../support/folder.js';
import { openGate, type Gate } from '../../support/gate.js';
import { ERRORS, startKafka, type KafkaMessage } from '../../support/kafka-broker.js';
import { gateState } from '../../support/kind-receivers.js';
import { googleError, sheetsReceiver } from '../../support/sheets.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/kinds/', import.meta.url));

async function kafkaReceiver(): Promise<KindReceiver & { messages: readonly KafkaMessage[] }> {
  let gate: Gate | undefined;
  const broker = await startKafka('crm.events', () => gate ?? broker);
  const opened = (gate = await openGate(broker));
  return {
    messages: broker.messages,
    options: { brokers: [`127.0.0.1:${opened.port}`], topic: 'crm.events' },
    secrets: [],
    arrived: () =>
      broker.messages.map(({ headers, value }) => ({
        id: headers['ce_id'] ?? null,
        content: JSON.parse(value) as unknown,
      })),
    become(state) {
      broker.fail(state === 'refusing' ? ERRORS.tooLarge : ERRORS.none);
      opened.become(gateState(state));
    },
    connections: () => opened.connections(),
    async close() {
      await opened.close();
      broker.close();
    },
  };
}

const THEIRS: KindUnderTest[] = [
  {
    ...{ kind: kafka, receiver: kafkaReceiver },
    wrong: [
      { options: { brokers: ['kafka'] }, path: 'brokers' },
      { options: { sasl: { mechanism: 'plain', password: 'leak' } }, path: 'sasl' },
    ],
    without: { limits: 'the client itself waits as long as a broker asks for' },
  },
  {
    ...{ kind: googleSheets, receiver: () => sheetsReceiver(), limitMs: 60_000 },
    wrong: [
      { options: { account: { email: 'nobody', privateKey: 'leak' } }, path: 'account' },
      { options: { spreadsheet: 'https://docs.google.com/' }, path: 'spreadsheet' },
    ],
    without: { huge: 'a cell holds 50,000 characters' },
  },
];

describe('kinds by others', () => {
  const checks = THEIRS.flatMap(kindConformance).filter(({ skipped }) => skipped === undefined);
  it.each(checks.map((one) => [one.name, one.run] as const))('kinds by others: %s', async (_name, run) => {
    await run();
  });

  it('kinds by others: each example is below 150 lines', () => {
    for (const name of readdirSync(EXAMPLES).filter((one) => one.endsWith('.ts')))
      expect(readFileSync(EXAMPLES + name, 'utf8').split('\n').length).toBeLessThan(150);
  });

  it('kafka: the events of a record are in one partition, in order, also while many are sent at a time', async () => {
    const receiver = await kafkaReceiver();
    const subscription = kafka({
      name: 'events',
      brokers: receiver.options['brokers'] as string[],
      topic: 'crm.events',
    });
    const deliver = async (record: number): Promise<void> => {
      for (let sequence = 1; sequence <= 5; sequence += 1) {
        const before = { id: `record-${record}` };
        const { runs } = await runHandler(
          subscription,
          eventOf('crm.person.updated', { before, after: { n: sequence }, sequence }),
        );
        expect(runs).toMatchObject([{ outcome: 'delivered' }]);
      }
    };
    await Promise.all(Array.from({ length: 12 }, (_, record) => deliver(record)));
    const byKey = new Map<string, KafkaMessage[]>();
    for (const one of receiver.messages) byKey.set(one.key, [...(byKey.get(one.key) ?? []), one]);
    expect(byKey.size).toBe(12);
    for (const messages of byKey.values()) {
      expect(new Set(messages.map(({ partition }) => partition)).size).toBe(1);
      expect(messages.map(({ value }) => (JSON.parse(value) as { data: { sequence: number } }).data.sequence)).toEqual([
        1, 2, 3, 4, 5,
      ]);
    }
    expect(new Set(receiver.messages.map(({ partition }) => partition)).size).toBeGreaterThan(1);
    expect(await subscription.reach?.()).toMatchObject({ problem: null });
    await subscription.close?.();
    await receiver.close();
  });

  it.each([
    [403, 'PERMISSION_DENIED', 'paused', 'no access to the spreadsheet (403); share it with changefeed@acme'],
    [404, 'NOT_FOUND', 'paused', 'no access'],
    [503, 'UNAVAILABLE', 'retry', 'Google answered 503'],
    [400, 'INVALID_ARGUMENT', 'dead', 'the row was refused (400)'],
  ] as const)('google sheets: %i %s: %s', async (status, name, outcome, message) => {
    const receiver = await sheetsReceiver(googleError(status, name));
    const subscription = googleSheets.build({ name: 'rows', ...receiver.options });
    await receiver.become('refusing');
    const { runs } = await runHandler(subscription, eventOf('crm.deal.updated'));
    expect(runs).toMatchObject([{ outcome }]);
    expect(String((runs[0] as { error?: Error }).error?.message)).toContain(message);
    await subscription.close?.();
    await receiver.close();
  });
});

const ENV = {
  ...{ CRM_URL: 'https://crm.example/api', CRM_TOKEN: 'token', KAFKA_BROKER: 'kafka.example:9093' },
  ...{ SHEET_ID: 'spreadsheet-1', SHEET_ACCOUNT: 'changefeed@acme.example', SHEET_KEY: '-----BEGIN PRIVATE KEY-----' },
};

describe('kinds of a configuration in JSON', () => {
  it('kinds of a configuration: modules beside the file are loaded, and read again with it', async () => {
    const { config, files } = await loadConfig({ cwd: EXAMPLES, env: ENV });
    expect(config.subscriptions.map(({ name, handler, words }) => [name, handler, words?.ko])).toEqual([
      ['events', 'kafka', '카프카 토픽'],
      ['won', 'googleSheets', '구글 시트'],
    ]);
    expect(files.map((file) => file.slice(EXAMPLES.length))).toEqual([
      'changefeed.config.json',
      'kafka.ts',
      'google-sheets.ts',
    ]);
  });

  const DEFINE =
    "import { defineKind, kindOptions } from 'crm-changefeed';\nexport default defineKind({ words: { en: 'a', ko: 'b' }, options: kindOptions({}), open: () => ({ deliver() {} }), name: ";
  it.each([
    [
      'a missing module',
      { kinds: ['./none.js'] },
      'kinds[0]: found "./none.js", and there is no such module; allowed: the path of a module',
    ],
    [
      'a missing package',
      { kinds: ['changefeed-none'] },
      'kinds[0]: found "changefeed-none", and there is no such module',
    ],
    ['a module without a kind', { kinds: ['./empty.mjs'] }, 'kinds[0]: found "./empty.mjs", which exports no kind'],
    [
      'a module that fails',
      { kinds: ['./broken.mjs'] },
      'kinds[0]: found "./broken.mjs", and running it failed: no brokers',
    ],
    ['a definition that is not complete', { kinds: ['./wrong.mjs'] }, 'name of defineKind "Bad Name"'],
    [
      'the name of a built-in handler',
      { kinds: ['./webhook.mjs'] },
      'kinds[0]: found a kind "webhook", which is the name of a built-in handler',
    ],
    [
      'a name twice',
      { kinds: ['./mine.mjs', './mine-too.mjs'] },
      'kinds[1]: found a kind "mine", which is the name of another one of them',
    ],
    [
      'a kind that is not named',
      { kinds: ['./mine.mjs'], subscriptions: [{ handler: 'mime', name: 'a' }] },
      'subscriptions[0].handler: found "mime"; allowed: "bullmq", "email", "message", "ndjson", "postgres", "pull", "todoReport", "webhook", or "mine" (did you mean "mine"?)',
    ],
    [
      'an option that there is not',
      { kinds: ['./mine.mjs'], subscriptions: [{ handler: 'mine', name: 'a', topik: 1 }] },
      'subscriptions[0].topik of mine "a": there is no such option',
    ],
  ] as const)('kinds of a configuration: %s is one clear error', async (_what, config, message) => {
    const cwd = testFolder();
    const files = {
      ...{
        'package.json': '{}',
        'empty.mjs': 'export const none = 1;',
        'broken.mjs': "throw new Error('no brokers');",
      },
      ...{ 'wrong.mjs': `${DEFINE}'Bad Name' });`, 'webhook.mjs': `${DEFINE}'webhook' });` },
      ...{ 'mine.mjs': `${DEFINE}'mine' });`, 'mine-too.mjs': `${DEFINE}'mine' });` },
      'changefeed.config.json': JSON.stringify({
        workspaces: [{ name: 'a', baseUrl: ENV.CRM_URL, token: 't' }],
        ...config,
      }),
    };
    for (const [name, content] of Object.entries(files)) writeFileSync(`${cwd}/${name}`, content);
    const refused = await loadConfig({ cwd, env: {} }).then(
      () => 'it was loaded',
      (error: unknown) => (error as Error).message,
    );
    expect(refused).toContain(message);
    expect(refused).not.toContain('problems:');
  });
});
