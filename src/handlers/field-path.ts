/**
 * Reads one value of a record by a path such as `담당자.name` or `딜 개수`. Pure. Names may contain spaces and dots, so the longest
 * existing name wins. Only a value's own fields are read.
 */

/** The value at `path`; undefined if there is none. */
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

/** A Korean name typed on one system may use another Unicode composition than the one the API sends. */
function ownKey(value: object, name: string): string | undefined {
  if (Object.hasOwn(value, name)) return name;
  const wanted = name.normalize('NFC');
  return Object.keys(value).find((key) => key.normalize('NFC') === wanted);
}
