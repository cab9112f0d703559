import type { Clock } from './clock.js';

/** Calls within `ms` share one result; a failure is not kept. */
export function keptFor<Value>(ms: number, read: () => Promise<Value>, clock: Clock): () => Promise<Value> {
  let kept: { value: Promise<Value>; untilMs: number } | undefined;
  return () => {
    if (kept !== undefined && clock.monotonic() < kept.untilMs) return kept.value;
    const value = read();
    kept = { value, untilMs: clock.monotonic() + ms };
    value.catch(() => (kept = undefined));
    return value;
  };
}
