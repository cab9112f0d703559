/** The checks of a kind can fail: each finds a kind that breaks its promise, and none finds fault with one that keeps them all. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { defineKind, kindOptions, PermanentError, secret, type ChangeEvent } from '../../src/index.js';
import {
  kindConformance,
  type Arrival,
  type KindCheck,
  type KindReceiver,
  type ReceiverState,
} from '../../src/testing/kind.js';

const SECRET = 'a-secret-of-memory';

function memory(fault?: KindCheck) {
  const room = { state: 'accepting' as ReceiverState, arrived: [] as Arrival[], connections: 0 };
  const is = (one: KindCheck): boolean => fault === one;
  const textOf = ({ data }: ChangeEvent): string => {
    const text = String(data.after?.['이름']);
    if (is('controls')) return text.replace(/[\u0001-\u001f]/g, ' ');
    if (is('nul')) return text.replace('\0', '');
    if (is('templates')) return text.replace('{{title}}', 'a title');
    if (is('repeats')) return `${text} ${room.arrived.length}`;
    return is('huge') ? text.slice(0, 50_000) : text;
  };
  const own = { key: secret(z.string({ error: 'a key' }).min(8, { error: 'a longer key' })) };
  const kind = defineKind({
    name: 'memory',
    words: { en: 'memory', ko: '메모리' },
    options: is('options') ? z.looseObject(kindOptions(own).shape) : kindOptions(own),
    open: () => ({
      async deliver(event, { signal, log }) {
        if (is('closes')) {
          // eslint-disable-next-line no-restricted-globals -- what is forgotten is the fault
          const timer = setInterval(() => undefined, 60_000);
          onTestFinished(() => clearInterval(timer));
        }
        if (is('quiet')) log.info({ about: event.data.after }, 'delivered');
        if (room.state === 'silent') {
          room.connections += 1;
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          if (!is('slow')) room.connections -= 1;
          if (is('stops')) throw new PermanentError('stopped');
          signal.throwIfAborted();
        }
        if (room.state !== 'accepting') throw new Error(room.state);
        const one = { id: is('delivers') ? 'another' : event.id, content: textOf(event) };
        if (is('order')) room.arrived.unshift(one);
        else room.arrived.push(one);
      },
      failure(thrown) {
        const { message } = thrown as Error;
        if (message === 'refusing') return { then: is('refuses') ? 'retry' : 'dead', message: 'it refuses.' };
        if (message === 'limiting') return { message: 'it is busy.', retryAfter: is('limits') ? null : '7' };
        return is('down') ? undefined : { message: 'it is away.' };
      },
    }),
  });
  const receiver = (): Promise<KindReceiver> => {
    Object.assign(room, { state: 'accepting', arrived: [], connections: 0 });
    return Promise.resolve({
      ...{
        options: { key: SECRET },
        secrets: [SECRET],
        arrived: () => room.arrived,
        connections: () => room.connections,
      },
      become: (state) => void (room.state = state),
      close: () => Promise.resolve(),
    });
  };
  const wrong = [{ options: { key: 'short' }, path: 'key' }];
  return kindConformance({ kind, receiver, wrong });
}

const CHECKS = memory().map(({ name }) => name.split(/[ :]/)[1] as KindCheck);

describe('checks of a kind', () => {
  it('checks of a kind: one that keeps its promises passes them all', async () => {
    expect(CHECKS).toHaveLength(15);
    for (const { run } of memory()) await run();
  });

  it.each(CHECKS)('checks of a kind: a broken promise is found: %s', async (check) => {
    const one = memory(check).find(({ name }) => name.startsWith(`memory ${check}:`));
    await expect(one?.run()).rejects.toThrow();
  });

  it('checks of a kind: what does not apply does nothing, and has its reason', async () => {
    const receiver = (): Promise<KindReceiver> => Promise.reject(new Error('not called'));
    const kind = defineKind({
      name: 'none',
      words: { en: 'a', ko: 'b' },
      options: kindOptions({}),
      open: () => ({ deliver: () => undefined }),
    });
    const [options] = kindConformance({ kind, receiver, wrong: [], without: { options: 'it has none' } });
    expect(options?.skipped).toBe('it has none');
    await options?.run();
  });
});
