import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../../src/kit/clock.js';
import { silentLog } from '../../../../src/kit/log.js';
import { createHttpServer, type Routes } from '../../../../src/ops/server/http/server.js';
import { createTurns } from '../../../../src/ops/server/http/turns.js';
import { apiOf, beginApi, described } from '../../../../src/ops/server/page/api.js';
import { eventually } from '../../../support/eventually.js';
import { noAudit } from '../../../support/audit.js';

const never = new AbortController().signal;

function asked(limits = { atOnce: 2, waiting: 3, waitingOfOne: 2 }) {
  const turns = createTurns(limits);
  const ends: (() => void)[] = [];
  const work = (): Promise<string> => new Promise((resolve) => ends.push(() => resolve('answered')));
  const ask = (caller: string, signal = never) => turns.take(caller, signal, work);
  return { ask, running: () => ends.length, end: () => ends.shift()?.() };
}

it('turns: two run at a time, the others in the order in which they came, and a failure hands its turn on', async () => {
  const { ask, running, end } = asked();
  const answers = ['a', 'a', 'a', 'b'].map((caller) => ask(caller));
  await eventually(() => expect(running()).toBe(2));
  end();
  await eventually(() => expect(running()).toBe(2));
  for (let left = 3; left > 0; left -= 1) {
    await eventually(() => expect(running()).toBeGreaterThan(0));
    end();
  }
  expect(await Promise.all(answers)).toEqual(['answered', 'answered', 'answered', 'answered']);

  const turns = createTurns({ atOnce: 1, waiting: 1, waitingOfOne: 1 });
  const failed = turns.take('a', never, () => Promise.reject(new Error('no')));
  const next = turns.take('b', never, () => Promise.resolve('answered'));
  await expect(failed).rejects.toThrow('no');
  expect(await next).toBe('answered');
});

it('turns: few of one caller wait, and few of all', async () => {
  const { ask } = asked();
  void ask('a');
  void ask('a');
  void ask('a');
  void ask('a');
  expect(await ask('a')).toBe('no turn');
  void ask('b');
  expect(await ask('b')).toBe('no turn');
  expect(await ask('c')).toBe('no turn');
});

it('turns: who leaves gives the place up', async () => {
  const { ask, running, end } = asked({ atOnce: 1, waiting: 1, waitingOfOne: 1 });
  const first = ask('a');
  await eventually(() => expect(running()).toBe(1));
  const left = new AbortController();
  const gone = ask('b', left.signal);
  expect(await ask('c')).toBe('no turn');
  left.abort();
  expect(await gone).toBe('no turn');
  const waits = ask('c');
  end();
  await first;
  await eventually(() => expect(running()).toBe(1));
  end();
  expect(await waits).toBe('answered');
});

it('turns: one reader may ask a costly question twelve times at once, and the next is told to come again', async () => {
  let answerAll = (): void => undefined;
  const all = new Promise<void>((resolve) => (answerAll = resolve));
  const routes: Routes = async (app) => {
    await beginApi(app, '0.0.0', () => false);
    const schema = described('test')('ask', 'Asks.', z.strictObject({}));
    apiOf(app).get('/api/costly', { config: { cost: 'log' }, schema }, async () => {
      await all;
      return {};
    });
    apiOf(app).get('/api/cheap', { schema: { ...schema, operationId: 'askCheaply' } }, () => Promise.resolve({}));
  };
  const where = { host: '127.0.0.1', port: undefined, usualPort: 0 };
  const access = { tokens: { read: 'read-token-7305918264' } };
  const server = createHttpServer({
    routes: [routes],
    access,
    ...where,
    clock: systemClock,
    log: silentLog,
    audit: noAudit,
  });
  onTestFinished(() => server.stop());
  // Awaited, so that it is sent at once.
  const ask = async (url: string) =>
    await server.app.inject({ url, headers: { authorization: 'Bearer read-token-7305918264' } });
  const asked = Array.from({ length: 12 }, () => ask('/api/costly'));
  const refused = await ask('/api/costly');
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '2']);
  expect((await ask('/api/cheap')).statusCode).toBe(200);
  answerAll();
  expect((await Promise.all(asked)).map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 12 }, () => 200));
});
