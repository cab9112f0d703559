/**
 * What was worked out of an object stays with it for as long as it lives. Records, rules and states are never altered, and
 * one decision asks for the same form, text and image several times, in rooms that do not know of each other.
 */
export function workedOut<K extends object, V>(kept: WeakMap<K, V>, from: K, work: () => V): V {
  const before = kept.get(from);
  if (before !== undefined) return before;
  const result = work();
  kept.set(from, result);
  return result;
}
