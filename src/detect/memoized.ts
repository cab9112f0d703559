/**
 * Keeps a value computed from an object for as long as the object lives. Records, rules and stored records are never
 * modified, and one decision needs the same value types, text and image in several modules.
 */
export function memoized<K extends object, V>(cache: WeakMap<K, V>, key: K, compute: () => V): V {
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const value = compute();
  cache.set(key, value);
  return value;
}
