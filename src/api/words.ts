/** What the server says for itself in a failed answer: worth showing to a person, shortened, and never a record. */
import type { Redact } from './redact.js';

const MAX_CHARACTERS = 200;

/** The texts of `reason` and `message`, whatever form they take; `reason` first, where the useful part stands. */
export function statementsOf(body: unknown): string[] {
  const { reason, message } = saidIn(body);
  return [...reason, ...message];
}

function saidIn(body: unknown): { reason: string[]; message: string[] } {
  if (typeof body !== 'object' || body === null) return { reason: [], message: [] };
  const { reason, message } = body as { reason?: unknown; message?: unknown };
  return { reason: textsOf(reason), message: textsOf(message) };
}

function textsOf(value: unknown): string[] {
  return [value].flat().filter((text): text is string => typeof text === 'string' && text.trim() !== '');
}

/** The body as JSON; undefined when it is none. The parser's own error is not kept: it quotes the text. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Message and reason of a JSON body, the title of an HTML page, otherwise nothing. Redacted before it is cut. */
export function wordsOf(text: string, redact: Redact): string {
  const body = jsonOf(text);
  const said = body === undefined ? titleOf(text) : sentenceOf(body);
  return shorten(redact(printable([...new Set(said)].join(': '))));
}

// For a person: what went wrong, then why.
function sentenceOf(body: unknown): string[] {
  const { reason, message } = saidIn(body);
  return [...message, ...reason];
}

function titleOf(html: string): string[] {
  const title = /<title[^>]*>([^<]*)<\/title/i.exec(html)?.[1]?.trim() ?? '';
  return title === '' ? [] : [title];
}

// Control characters would reach a terminal.
function printable(text: string): string {
  return text
    .replace(/<[^>]*>/g, ' ')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
}

function shorten(text: string): string {
  const characters = Array.from(text);
  return characters.length <= MAX_CHARACTERS ? text : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`;
}
