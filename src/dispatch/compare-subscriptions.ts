/**
 * Compares two sets of subscriptions: which are added, changed and removed. Unchanged subscriptions of the new set are the old objects, so that they
 * are not restarted. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Subscription } from '../handlers/handler.js';

export function compareSubscriptions(before: readonly Subscription[], after: readonly Subscription[]) {
  const earlier = new Map(before.map((one) => [one.name, one]));
  const subscriptions = after.map((one) => {
    const old = earlier.get(one.name);
    return old !== undefined && isSame(old, one) ? old : one;
  });
  const isNew = ({ name }: Subscription): boolean => !earlier.has(name);
  const names = new Set(after.map(({ name }) => name));
  return {
    subscriptions,
    added: subscriptions.filter(isNew).map(({ name }) => name),
    changed: subscriptions.filter((one) => !isNew(one) && earlier.get(one.name) !== one).map(({ name }) => name),
    removed: before.filter(({ name }) => !names.has(name)).map(({ name }) => name),
  };
}

/** Two functions cannot be compared, so a subscription with a function in its options always counts as changed. */
function isSame(a: Subscription, b: Subscription): boolean {
  if (a === b) return true;
  const [before, after] = [a.settings?.(), b.settings?.()];
  const sameLists = isDeepStrictEqual(a.catalogue?.all, b.catalogue?.all);
  return before !== undefined && a.handler === b.handler && sameLists && isDeepStrictEqual(before, after);
}
