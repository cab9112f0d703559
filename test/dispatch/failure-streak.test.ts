import { describe, expect, it } from 'vitest';
import { FailureStreak } from '../../src/dispatch/failure-streak.js';
import { systemClock } from '../../src/runtime/clock.js';
import { silentLog } from '../../src/runtime/log.js';

const MESSAGE = 'handler failed, the event will be retried';
const REFUSED = { code: 'CF_REFUSED' };

function streakWithLines(): [FailureStreak, string[]] {
  const lines: string[] = [];
  const line = (level: string) => (_: object, message: string) => void lines.push(`${level} ${message}`);
  const logger = { ...silentLog, debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  return [new FailureStreak({ subscription: { name: 'out' }, logger, clock: systemClock }), lines];
}

describe('failure streak', () => {
  it('failure streak: logs the first failure and the end', () => {
    const [streak, lines] = streakWithLines();
    for (let n = 0; n < 3; n += 1) streak.failed(REFUSED, MESSAGE, streak.ended);
    streak.succeeded();
    streak.succeeded();
    expect(lines).toEqual([`warn ${MESSAGE}`, `debug ${MESSAGE}`, `debug ${MESSAGE}`, 'info handler succeeds again']);
  });

  it('failure streak: logs another code, and a failure after the end', () => {
    const [streak, lines] = streakWithLines();
    streak.failed(REFUSED, MESSAGE, streak.ended);
    streak.failed({ code: 'CF_TIMEOUT' }, MESSAGE, streak.ended);
    streak.succeeded();
    streak.failed(REFUSED, MESSAGE, streak.ended);
    expect(lines).toEqual([`warn ${MESSAGE}`, `warn ${MESSAGE}`, 'info handler succeeds again', `warn ${MESSAGE}`]);
  });

  it('failure streak: an attempt that began before the end does not begin another one', () => {
    const [streak, lines] = streakWithLines();
    const slow = streak.ended;
    for (let n = 0; n < 2; n += 1) streak.failed(REFUSED, MESSAGE, streak.ended);
    streak.succeeded();
    streak.failed(REFUSED, MESSAGE, slow);
    streak.succeeded();
    expect(lines).toEqual([`warn ${MESSAGE}`, `debug ${MESSAGE}`, 'info handler succeeds again', `debug ${MESSAGE}`]);
  });
});
