/** Reads one value of a record by a path. Names may contain spaces and dots, so the longest existing name wins. */

export function valueAtPath(value: unknown, path: string): unknown {
  // A Korean name typed on one system may use another Unicode composition than the one the API sends.
  return follow(value, path.normalize('NFC'));
}

/** Compares existing names with the path: trying each part of a path of many dots takes quadratic time. */
function follow(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  if (Object.hasOwn(fields, path)) return fields[path];
  const steps = Object.keys(fields)
    .map((key) => ({ key, name: key.normalize('NFC') }))
    .filter(({ name }) => path === name || path.startsWith(`${name}.`))
    .sort((a, b) => b.name.length - a.name.length);
  for (const { key, name } of steps) {
    const found = path === name ? fields[key] : follow(fields[key], path.slice(name.length + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}
