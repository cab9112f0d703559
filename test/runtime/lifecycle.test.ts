import { describe, expect, it } from 'vitest';
import { createLifecycle, type Part } from '../../src/runtime/lifecycle.js';

const never = (): Promise<never> => new Promise(() => undefined);

function recorder(): { said: string[]; part: (name: string, overrides?: Partial<Part>) => Part } {
  const said: string[] = [];
  const say = (what: string): Promise<void> => {
    said.push(what);
    return Promise.resolve();
  };
  return {
    said,
    part: (name, overrides) => ({ name, start: () => say(`+${name}`), stop: () => say(`-${name}`), ...overrides }),
  };
}

describe('a lifecycle', () => {
  it('starts its parts in order and stops them in reverse, each once', async () => {
    const { said, part } = recorder();
    const life = createLifecycle([part('a'), part('b'), part('c')]);
    expect(life.start()).toBe(life.start());
    await life.start();
    await Promise.all([life.stop(), life.stop()]);
    expect(said).toEqual(['+a', '+b', '+c', '-c', '-b', '-a']);
  });

  it('stops what had started when a part fails to start, and tells that failure', async () => {
    const { said, part } = recorder();
    const life = createLifecycle([part('a'), part('b', { start: () => Promise.reject(new Error('no b')) }), part('c')]);
    await expect(life.start()).rejects.toThrow('no b');
    expect(said).toEqual(['+a', '-b', '-a']);
  });

  it('waits for a start in flight before it stops, and starts nothing further', async () => {
    const { said, part } = recorder();
    let release = (): void => undefined;
    const started = new Promise<void>((resolve) => (release = resolve));
    const life = createLifecycle([part('a', { start: () => started.then(() => void said.push('+a')) }), part('b')]);
    const starting = life.start().catch((error: unknown) => String(error));
    const stopping = life.stop();
    release();
    await stopping;
    expect(await starting).toContain('Stopped before it had started');
    expect(said).toEqual(['+a', '-a']);
  });

  it('stops within its deadline, names what hangs, and still stops the rest', async () => {
    const { said, part } = recorder();
    const life = createLifecycle([part('a'), part('hangs', { stop: never }), part('b')], { deadlineMs: 100 });
    await life.start();
    await expect(life.stop()).rejects.toMatchObject({
      code: 'CF_STOP_TIMEOUT',
      message: expect.stringContaining('did not stop within 100 ms: hangs') as string,
    });
    expect(said).toEqual(['+a', '+hangs', '+b', '-b', '-a']);
  });

  it('says what failed to stop', async () => {
    const { part } = recorder();
    const life = createLifecycle([part('a', { stop: () => Promise.reject(new Error('stuck')) })]);
    await life.start();
    await expect(life.stop()).rejects.toThrow('a failed to stop: stuck');
  });

  it('may be stopped without ever having been started', async () => {
    const { said, part } = recorder();
    await createLifecycle([part('a')]).stop();
    expect(said).toEqual([]);
  });
});
