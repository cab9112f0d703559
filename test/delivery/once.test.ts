import { describe, expect, it } from 'vitest';
import type { OnceOutcome } from '../../src/delivery/handlers/handler.js';
import { createOnceStore } from '../../src/delivery/run/once.js';
import { eventually } from '../support/eventually.js';
import { aSubscription } from '../support/fan-out.js';
import { changeEvent } from '../support/events.js';
import { useRedis } from '../support/redis.js';
import { runFanOut } from '../support/running-fan-out.js';

const test = useRedis();
const event = changeEvent({ record: 'r1', sequence: 1 });

describe('once', () => {
  it('an effect runs once over all attempts of an event, and a failing effect runs at each attempt', async () => {
    const [effects, outcomes] = [[] as string[], [] as OnceOutcome[]];
    const { append, settled } = await runFanOut(test, [
      aSubscription('s', async (_event, { once, attempt }) => {
        outcomes.push(await once('mail', () => effects.push(`mail ${attempt}`)));
        await once('book', () => {
          effects.push(`book ${attempt}`);
          if (attempt < 3) throw new Error('not yet');
        });
      }),
    ]);
    await append(1);

    expect(await settled()).toEqual({ outcome: 'handled' });
    expect(effects).toEqual(['mail 1', 'book 1', 'book 2', 'book 3']);
    expect(outcomes).toEqual(['ran', 'before', 'before']);
  });

  it('an effect that a lost process had started does not run again, and the outcome is unknown', async () => {
    await createOnceStore(test.redis, test.keys).begin({
      subscription: 's',
      workspace: 'acme',
      eventId: event.id,
      key: 'mail',
    });
    const [effects, outcomes] = [[] as string[], [] as OnceOutcome[]];
    const { append, settled } = await runFanOut(test, [
      aSubscription('s', async (_event, { once }) => {
        outcomes.push(await once('mail', () => effects.push('mail')));
      }),
    ]);
    await append(1);
    await settled();

    expect([effects, outcomes]).toEqual([[], ['unknown']]);
  });

  it('an effect that is still running after a timeout does not run again', async () => {
    let finish = (): void => undefined;
    const slow = new Promise<void>((resolve) => (finish = resolve));
    const [effects, outcomes] = [[] as number[], [] as OnceOutcome[]];
    const subscription = aSubscription(
      's',
      async (_event, { once, attempt }) => {
        outcomes.push(
          await once('mail', () => {
            effects.push(attempt);
            return slow;
          }),
        );
      },
      { timeoutMs: 50 },
    );
    const { append, settled } = await runFanOut(test, [subscription]);
    await append(1);
    await settled();
    finish();

    await eventually(() => expect(outcomes).toEqual(['unknown', 'ran']));
    expect(effects).toEqual([1]);
  });

  it('control: without it an effect runs at every attempt', async () => {
    const effects: number[] = [];
    const { append, settled } = await runFanOut(test, [
      aSubscription('s', (_event, { attempt }) => {
        effects.push(attempt);
        if (attempt < 3) throw new Error('not yet');
      }),
    ]);
    await append(1);
    await settled();
    expect(effects).toEqual([1, 2, 3]);
  });
});
