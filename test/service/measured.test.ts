import { describe, expect, it } from 'vitest';
import { withMeasure } from '../../workers/measured.js';
import { ChangefeedError } from '../../src/kit/errors.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import type { Subscription } from '../../src/delivery/handlers/handler.js';
import { unmeasured, type HandlerEnded, type Measure } from '../../src/ops/prometheus.js';
import { handlerContext, sampleEvent } from '../support/handler-fixtures.js';

const AT = Date.parse(sampleEvent().data.observedAt) + 3_000;
const clock = { now: () => AT, monotonic: () => AT, sleep: () => Promise.resolve() };

function measuring() {
  const ended: HandlerEnded[] = [];
  const measure: Measure = { ...unmeasured, handling: () => (one) => void ended.push(one) };
  return {
    ended,
    measured: (subscriptions: readonly Subscription[]) => withMeasure(subscriptions, { measure, clock }),
  };
}
const context = (more: object = {}) => ({ ...handlerContext(), ...more });

describe('measured handlers', () => {
  it('measured handlers: a success has the delay since its change and since its detection', async () => {
    const { ended, measured } = measuring();
    const [one] = measured([defineHandler({ name: 'ops', handle: () => undefined })]);
    await one?.handle(sampleEvent(), context());
    const changeMs = AT - Date.parse(sampleEvent().time);
    expect(ended).toEqual([{ outcome: 'success', ms: 0, delay: { changeMs, detectionMs: 3_000 } }]);
  });

  it('measured handlers: what is sent again has no delay, and neither has a snapshot', async () => {
    const { ended, measured } = measuring();
    const [one] = measured([defineHandler({ name: 'ops', handle: () => Promise.resolve() })]);
    await one?.handle(sampleEvent(), context({ replay: true }));
    await one?.handle({ ...sampleEvent(), type: 'crm.person.snapshot' }, context());
    expect(ended.map(({ delay }) => delay)).toEqual([null, null]);
  });

  it('measured handlers: failures are counted and thrown on, sooner or later', async () => {
    const { ended, measured } = measuring();
    const fail = (): never => {
      throw new Error('no');
    };
    const [soon, late] = measured([
      defineHandler({ name: 'soon', handle: fail }),
      defineHandler({ name: 'late', handle: () => Promise.resolve().then(fail) }),
    ]);
    expect(() => soon?.handle(sampleEvent(), context())).toThrow('no');
    await expect(late?.handle(sampleEvent(), context())).rejects.toThrow('no');
    expect(ended.map(({ outcome }) => outcome)).toEqual(['failure', 'failure']);
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

  it('measured handlers: without metrics a subscription stays as it is', () => {
    const one = defineHandler({ name: 'ops', handle: () => undefined });
    expect(withMeasure([one], { measure: unmeasured, clock })[0]).toBe(one);
  });
});
