/** Values in a chat message. Pure. The text format is Slack's mrkdwn, which other services accept too. */

/** In characters: longer values would hide the rest of the message. */
const LONGEST_VALUE = 500;

/** Escapes Slack's three control characters. Without it a record could notify `<!channel>` or disguise a link. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A value as readable text, not yet escaped: a reference by its name, null as an empty text. */
export function wordsOf(value: unknown, longest = LONGEST_VALUE): string {
  return shorten(textOf(value), longest);
}

export function shorten(text: string, longest: number): string {
  const characters = Array.from(text);
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value.replaceAll('\0', '').trim();
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  const { name } = value as { name?: unknown };
  return typeof name === 'string' ? name : JSON.stringify(value);
}
