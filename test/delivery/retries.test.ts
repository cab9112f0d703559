import { describe, expect, it } from 'vitest';
import { PermanentError, RetryAfterError } from '../../src/delivery/handlers/errors.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { WORKSPACE, changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { eventuallyDead, runFanOut } from '../support/running-fan-out.js';

const test = useRedis();

describe('retry: a delivery', () => {
  it('is attempted again after a failure, before its followers, with the number of the attempt', async () => {
    const seen: string[] = [];
    const { append, settled } = await runFanOut(test, [
      aSubscription('s', ({ data }, { attempt }) => {
        seen.push(`${data.sequence}#${attempt}`);
        if (data.sequence === 1 && attempt < 3) throw new Error('not yet');
      }),
    ]);

    await append(1, 2);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual(['1#1', '1#2', '1#3', '2#1']);
  });

  it('waits as long as a RetryAfterError says', async () => {
    const at: number[] = [];
    const { append, settled } = await runFanOut(test, [
      aSubscription('s', () => {
        at.push(performance.now());
        if (at.length === 1) throw new RetryAfterError('busy', { retryAfter: 300 });
      }),
    ]);

    await append(1);
    await settled();

    expect(at).toHaveLength(2);
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(295);
  });

  it('becomes a dead letter at once on a PermanentError and releases its record', async () => {
    const seen: number[] = [];
    const { append, settled, dead } = await runFanOut(test, [
      aSubscription('s', ({ data }) => {
        if (data.sequence === 1) throw new PermanentError('endpoint gone');
        seen.push(data.sequence);
      }),
    ]);

    const [logId] = await append(1, 2, 3);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(seen).toEqual([2, 3]);
    const event = changeEvent({ record: 'r1', sequence: 1 });
    expect(await eventuallyDead(dead, 1)).toEqual([
      {
        id: event.id,
        subscription: 's',
        workspace: WORKSPACE,
        logId,
        reason: 'endpoint gone',
        diedAt: expect.any(String) as string,
        attempts: [expect.objectContaining({ attempt: 1, error: 'PermanentError', message: 'endpoint gone' })],
        event,
        replay: false,
      },
    ]);
  });

  it('becomes a dead letter after its last attempt and records each of them', async () => {
    const { append, settled, dead } = await runFanOut(test, [
      aSubscription('s', (_event, { attempt }) => Promise.reject(new Error(`no. ${attempt}`)), {
        retry: { attempts: 3, delayMs: 1, maxDelayMs: 2 },
      }),
    ]);

    await append(1);
    await settled();

    const [letter] = await eventuallyDead(dead, 1);
    expect(letter?.attempts.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, 'no. 1'],
      [2, 'no. 2'],
      [3, 'no. 3'],
    ]);
  });

  it('ends at the timeout even if the handler ignores its signal', async () => {
    const signals: AbortSignal[] = [];
    const { append, settled, dead } = await runFanOut(test, [
      aSubscription(
        's',
        (_event, { signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
        { timeoutMs: 50, retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 } },
      ),
    ]);

    await append(1);
    await settled();

    const [letter] = await eventuallyDead(dead, 1);
    expect(letter?.attempts[0]?.code).toBe('CF_HANDLER_TIMEOUT');
    expect(letter?.reason).toContain('The handler of "s" did not finish within 50 ms');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('names the type of a thrown value that is not an error, and not its contents', async () => {
    const { append, settled, dead } = await runFanOut(test, [
      aSubscription(
        's',
        () => {
          // eslint-disable-next-line @typescript-eslint/only-throw-error -- the test needs it
          throw 'secret';
        },
        { retry: { attempts: 1, delayMs: 1, maxDelayMs: 1 } },
      ),
    ]);

    await append(1);
    await settled();

    const [letter] = await eventuallyDead(dead, 1);
    expect(letter?.attempts[0]?.code).toBe('CF_HANDLER_FAILED');
    expect(letter?.reason).toContain('a string of 6 characters');
    expect(JSON.stringify(letter)).not.toContain('secret');
  });

  it('an attempt that is interrupted by stopping does not count', async () => {
    const attempts: number[] = [];
    const handle: Subscription['handle'] = (_event, { attempt, signal }) => {
      attempts.push(attempt);
      if (attempts.length > 1) return;
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('interrupted'))));
    };
    const first = await runFanOut(test, [aSubscription('s', handle)], { stopGraceMs: 500 });
    await first.append(1);
    await eventually(() => expect(attempts).toHaveLength(1));
    await first.pool.stop();

    const second = await runFanOut(test, [aSubscription('s', handle)]);

    expect(await second.settled()).toEqual({ outcome: 'handled' });
    expect(attempts).toEqual([1, 1]);
    expect(await second.dead.count()).toBe(0);
  });
});

describe('stop', () => {
  it('the error names the handlers that do not end', async () => {
    let begun = false;
    const { append, pool } = await runFanOut(
      test,
      [
        aSubscription('stubborn', () => {
          begun = true;
          return new Promise(() => undefined);
        }),
      ],
      { stopGraceMs: 50 },
    );
    await append(1);
    await eventually(() => expect(begun).toBe(true));

    await expect(pool.stop()).rejects.toMatchObject({
      code: 'CF_STOP_TIMEOUT',
      message: expect.stringContaining('"stubborn"') as string,
    });
  });
});
