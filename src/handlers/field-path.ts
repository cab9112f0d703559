/**
 * Reads one value out of a record by the path a person wrote: `담당자.name`, `딜 개수`. Pure. Names may hold spaces, dots and
 * anything else, so the longest name that exists wins; nothing but a value's own fields is ever looked at.
 */

/** The value at `path`; undefined when there is none. */
export function valueAtPath(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  for (let end = path.length; end > 0; end = path.lastIndexOf('.', end - 1)) {
    const key = ownKey(value, path.slice(0, end));
    if (key === undefined) continue;
    const inner = (value as Record<string, unknown>)[key];
    if (end === path.length) return inner;
    const found = valueAtPath(inner, path.slice(end + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A Korean name typed on one system may be composed otherwise than the one sent by the API: the same to the eye. */
function ownKey(value: object, name: string): string | undefined {
  if (Object.hasOwn(value, name)) return name;
  const wanted = name.normalize('NFC');
  return Object.keys(value).find((key) => key.normalize('NFC') === wanted);
}
