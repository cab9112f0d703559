import { describe, expect, it } from 'vitest';
import { withMeasure } from '../../workers/measured.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { unmeasured, type HandlerEnded, type Measure } from '../../src/ops/watch/prometheus.js';
import { handlerContext, sampleEvent } from '../support/handler-fixtures.js';

const AT = Date.parse(sampleEvent().data.observedAt) + 3_000;
const CHANGED = Date.parse(sampleEvent().time);
const clock = { now: () => AT, monotonic: () => AT, sleep: () => Promise.resolve() };

function measuring() {
  const ended: HandlerEnded[] = [];
  const measure: Measure = { ...unmeasured, handling: () => (one) => void ended.push(one) };
  return {
    ended,
    measured: (subscriptions: readonly Subscription[]) =>
      subscriptions.map((one) => withMeasure(one, { measure, clock })),
  };
}
const context = (more: object = {}) => ({ ...handlerContext(), ...more });

describe('measured handlers', () => {
  const fail = (): never => {
    throw new Error('no');
  };
  it.each<[string, () => void | Promise<void>, object, object]>([
    ['a success', () => undefined, {}, { outcome: 'success', delay: { changeMs: AT - CHANGED, detectionMs: 3_000 } }],
    ['what is sent again', () => Promise.resolve(), { replay: true }, { outcome: 'success', delay: null }],
    ['a failure', fail, {}, { outcome: 'failure' }],
    ['a late failure', () => Promise.resolve().then(fail), {}, { outcome: 'failure' }],
  ])('measured handlers: %s is counted once, with its delays', async (_what, handle, more, expected) => {
    const { ended, measured } = measuring();
    const [one] = measured([defineHandler({ name: 'ops', handle })]);
    const said = await Promise.resolve()
      .then(() => one?.handle(sampleEvent(), context(more)))
      .catch((error: unknown) => error);
    expect(said instanceof Error).toBe('outcome' in expected && expected.outcome === 'failure');
    expect(ended).toMatchObject([expected]);
  });

  it('measured handlers: a handler that ignores its timeout is counted at the timeout', () => {
    const { ended, measured } = measuring();
    const [one] = measured([defineHandler({ name: 'ops', handle: () => new Promise<void>(() => undefined) })]);
    const timeout = new AbortController();
    void one?.handle(sampleEvent(), context({ signal: timeout.signal }));
    expect(ended).toEqual([]);
    timeout.abort(new ChangefeedError('CF_HANDLER_TIMEOUT', { message: 'too slow' }));
    expect(ended.map(({ outcome }) => outcome)).toEqual(['timeout']);
  });
});
