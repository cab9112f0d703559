/** Patterns with `*`, the one wildcard of Changefeed: it stands for any run of characters, the empty one included. */

/** Makes a test of a pattern; compile once, ask often. */
export function compilePattern(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return (text) => text === pattern;
  // Runs of * are one: "a**b" must not become a slow expression.
  const source = pattern.split(/\*+/).map(escape).join('.*');
  const expression = new RegExp(`^${source}$`, 's');
  return (text) => expression.test(text);
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
