/** A kind of handler by others in a running feed, named by data: retries, dead letters, receipts, status, tests, tries, and what doctor says. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { defineKind, kindOptions, type DeliveryFailure } from '../../src/index.js';
import { appendEvents } from '../support/events.js';
import { eventually } from '../support/eventually.js';
import { openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { personEvent } from '../support/page-feed.js';
import { launchRedis, redisBinary } from '../support/private-redis.js';
import { useCli } from '../support/cli.js';
import { useRedis } from '../support/redis.js';

const PRIVATE = 'hong.gildong@person.example';

describe('kinds by others in a feed', () => {
  const redis = useRedis();

  it('kinds by others: what a failure means is done, kept and shown as of any handler', async () => {
    const means: Record<string, DeliveryFailure | undefined> = {
      p1: { retryAfter: '0', status: 429, message: 'the desk is busy.', said: `busy with ${PRIVATE}` },
      p2: { then: 'dead', status: 422, message: 'the desk does not take it.' },
    };
    const got: string[] = [];
    const desk = defineKind({
      name: 'desk',
      words: { en: 'help desk', ko: '헬프데스크' },
      options: kindOptions({}),
      open: () => ({
        deliver({ subject }, { attempt, test }) {
          if (attempt === 1 && test !== true && means[subject] !== undefined) throw new Error(subject);
          got.push(subject);
          return { status: 201 };
        },
        failure: (thrown) => means[(thrown as Error).message],
        reach: () => Promise.resolve({ place: 'desk.example', problem: null }),
      }),
    });
    const { url, token } = await startOtherCrm();
    const workspaces = [{ name: 'acme', baseUrl: url, token }];
    const feed = await openFeed(redis, {
      workspaces,
      kinds: [desk],
      subscriptions: [{ handler: 'desk', name: 'tickets' }],
    });
    await feed.start(['dispatch', 'handle']);
    await appendEvents(
      redis,
      ['p1', 'p2', 'p3'].map((id) => personEvent(id, 1, { fields: { 이메일: PRIVATE } })),
    );
    await eventually(() => expect(got.sort()).toEqual(['p1', 'p3']));
    const dead = await eventually(async () => {
      const letters = await feed.deadLetters.list();
      expect(letters).toHaveLength(1);
      return letters;
    });
    expect(dead).toMatchObject([{ subscription: 'tickets', attempts: [{ attempt: 1, status: 422 }] }]);
    const status = await eventually(async () => {
      const found = await feed.status();
      expect(found.subscriptions[0]).toMatchObject({ waiting: 0, active: 0, delayed: 0 });
      return found;
    });
    expect(status.subscriptions).toMatchObject([
      { name: 'tickets', handler: 'desk', words: { en: 'help desk', ko: '헬프데스크' }, dead: 1 },
    ]);
    expect(JSON.stringify(status)).not.toContain(PRIVATE);
    const { newest } = await feed.describeSubscription('tickets');
    expect(newest.map(({ outcome, status: answer }) => [outcome, answer]).sort()).toEqual([
      ['dead', 422],
      ['delivered', 201],
      ['delivered', 201],
      ['retry', 429],
    ]);
    expect(await feed.test('tickets', { type: 'crm.person.created' })).toMatchObject({
      outcome: 'accepted',
      place: 'desk',
    });
    expect(await feed.try('tickets')).toMatchObject({ subscription: 'tickets', read: 3, selected: 3 });
  });
});

const MODULE = `import { defineKind, kindOptions } from 'crm-changefeed';
export const desk = defineKind({
  name: 'desk',
  words: { en: 'help desk', ko: '헬프데스크' },
  options: kindOptions({}),
  open: ({ name }) => ({
    deliver() {},
    async reach() {
      if (name === 'throws') throw new Error('leak-me');
      return name === 'there' ? { place: 'desk.example', problem: null } : { place: 'desk.example', problem: 'It is closed.', remedy: 'Wait for Monday.' };
    },
    obstacle: () => (name === 'there' ? null : { reason: 'no key', remedy: 'set a key' }),
  }),
});`;

describe.skipIf(redisBinary === undefined)('doctor', () => {
  const cli = useCli();

  it('doctor: says what kinds by others check, and no error that they throw', async () => {
    const crm = await startOtherCrm();
    const server = await launchRedis();
    onTestFinished(() => server.close());
    vi.stubEnv('REDIS_URL', server.url);
    const workspaces = [{ name: 'acme', baseUrl: crm.url, token: crm.token }];
    const subscriptions = ['there', 'closed', 'throws'].map((name) => ({ handler: 'desk', name }));
    const folder = await cli({
      'changefeed.config.json': { workspaces, kinds: ['./desk.mjs'], subscriptions },
      'desk.mjs': MODULE,
    });
    const { stdout } = await folder.call(['doctor', '--json'], { REDIS_URL: server.url });
    const { findings } = JSON.parse(stdout) as {
      findings: { check: string; result: string; seen: string; todo: string | null }[];
    };
    const found = (check: string) => findings.find((one) => one.check === check);
    expect(found('endpoint of there')).toMatchObject({
      result: 'ok',
      seen: expect.stringContaining('desk.example') as string,
    });
    expect(found('endpoint of closed')).toMatchObject({
      result: 'error',
      seen: 'It is closed.',
      todo: 'Wait for Monday.',
    });
    expect(found('endpoint of throws')).toMatchObject({
      result: 'error',
      seen: expect.stringContaining('a message of 7 characters') as string,
    });
    expect(found('handler of closed')).toMatchObject({ result: 'error', seen: 'no key', todo: 'Set a key.' });
    expect(stdout).not.toContain('leak-me');
  });
});
