/** Waiting for others, in checks: for an end in time, and until something holds. */
import assert from 'node:assert/strict';
import { systemClock } from '../kit/clock.js';

export async function within<Value>(ms: number, what: string, value: Promise<Value>): Promise<Value> {
  const ended = new AbortController();
  const late = systemClock.sleep(ms, ended.signal).then(() => assert.fail(`After ${ms} ms, ${what} has not ended.`));
  late.catch(() => undefined);
  try {
    return await Promise.race([value, late]);
  } finally {
    ended.abort();
  }
}

/** Repeats a check until it holds. @throws what it throws at last */
export async function eventually(check: () => Promise<void>, ms = 15_000): Promise<void> {
  const endMs = systemClock.monotonic() + ms;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (systemClock.monotonic() >= endMs) throw error;
      await systemClock.sleep(50);
    }
  }
}
