import { expect, it } from 'vitest';
import { createLifecycle, type Part } from '../../src/kit/lifecycle.js';

const never = (): Promise<never> => new Promise(() => undefined);

function recorder(): { calls: string[]; part: (name: string, overrides?: Partial<Part>) => Part } {
  const calls: string[] = [];
  const call = (what: string): Promise<void> => {
    calls.push(what);
    return Promise.resolve();
  };
  return {
    calls,
    part: (name, overrides) => ({ name, start: () => call(`+${name}`), stop: () => call(`-${name}`), ...overrides }),
  };
}

it('lifecycle: starts its parts in order and stops them in reverse, each once', async () => {
  const { calls, part } = recorder();
  const life = createLifecycle([part('a'), part('b'), part('c')]);
  expect(life.start()).toBe(life.start());
  await life.start();
  await Promise.all([life.stop(), life.stop()]);
  expect(calls).toEqual(['+a', '+b', '+c', '-c', '-b', '-a']);
});

it('lifecycle: when a part fails to start, stops the parts before it and reports that failure', async () => {
  const { calls, part } = recorder();
  const life = createLifecycle([part('a'), part('b', { start: () => Promise.reject(new Error('no b')) }), part('c')]);
  await expect(life.start()).rejects.toThrow('no b');
  expect(calls).toEqual(['+a', '-b', '-a']);
});

it('lifecycle: a stop waits for a start in progress, and no further part starts', async () => {
  const { calls, part } = recorder();
  let release = (): void => undefined;
  const started = new Promise<void>((resolve) => (release = resolve));
  const life = createLifecycle([part('a', { start: () => started.then(() => void calls.push('+a')) }), part('b')]);
  const starting = life.start().catch((error: unknown) => String(error));
  const stopping = life.stop();
  release();
  await stopping;
  expect(await starting).toContain('Stopped before it had started');
  expect(calls).toEqual(['+a', '-a']);
});

it('lifecycle: stops within its deadline, names a part that hangs, and still stops the others', async () => {
  const { calls, part } = recorder();
  const life = createLifecycle([part('a'), part('hangs', { stop: never }), part('b')], { deadlineMs: 100 });
  await life.start();
  await expect(life.stop()).rejects.toMatchObject({
    code: 'CF_STOP_TIMEOUT',
    message: expect.stringContaining('did not stop within 100 ms: hangs') as string,
  });
  expect(calls).toEqual(['+a', '+hangs', '+b', '-b', '-a']);
});

it('lifecycle: names a part that failed to stop', async () => {
  const { part } = recorder();
  const life = createLifecycle([part('a', { stop: () => Promise.reject(new Error('stuck')) })]);
  await life.start();
  await expect(life.stop()).rejects.toThrow('a failed to stop: stuck');
});

it('lifecycle: may be stopped although it was never started', async () => {
  const { calls, part } = recorder();
  await createLifecycle([part('a')]).stop();
  expect(calls).toEqual([]);
});
