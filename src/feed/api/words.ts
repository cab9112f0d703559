/** The explanation in a failed answer, shortened for a person to read. It never contains a record. */
import { printable, shorten } from '../../kit/printable.js';
import type { Redact } from './redact.js';

const MAX_CHARACTERS = 200;

/** The texts of `reason` and `message`, each one text or several; `reason` first, because it has the useful part. */
export function statementsOf(body: unknown): string[] {
  return [...textsOf(body, 'reason'), ...textsOf(body, 'message')];
}

function textsOf(body: unknown, name: string): string[] {
  if (typeof body !== 'object' || body === null) return [];
  const value = (body as Readonly<Record<string, unknown>>)[name];
  return [value].flat().filter((text): text is string => typeof text === 'string' && text.trim() !== '');
}

/** The body as JSON; undefined when it is not JSON. The parser's error is dropped, because it quotes the text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Message and reason of a JSON body, or the title of an HTML page. Redacted before it is shortened. */
export function wordsOf(text: string, redact: Redact): string {
  const body = jsonOf(text);
  // `message` says what went wrong, `reason` why.
  const said = body === undefined ? titleOf(text) : [...textsOf(body, 'message'), ...textsOf(body, 'reason')];
  const plain = [...new Set(said)].join(': ').replace(/<[^>]*>/g, ' ');
  return shorten(redact(printable(plain).trim()), MAX_CHARACTERS);
}

function titleOf(html: string): string[] {
  const title = /<title[^>]*>([^<]*)<\/title/i.exec(html)?.[1]?.trim() ?? '';
  return title === '' ? [] : [title];
}
