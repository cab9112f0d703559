/** An event or a digest as a mail: its subject, its text twice (plain and HTML), and the ids that make a thread of a record. Pure. */
import { createHash } from 'node:crypto';
import { printable, shorten } from '../../../kit/printable.js';
import type { Service } from '../message/services.js';

const LONGEST = 20_000;
const LONGEST_SUBJECT = 150;

const shared = {
  member: 'text',
  body: (text: string) => ({ text }),
  longest: LONGEST,
  rate: { requests: 1, perSeconds: 1 },
};

/** Control characters, and those that change the direction of writing, could make a text look like another one. */
function plain(text: string): string {
  return text.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '');
}

export const PLAIN_MAIL: Service = {
  ...shared,
  bold: (text) => text,
  link: (url, text) => `${text}: ${url}`,
  escape: plain,
};

export const HTML_MAIL: Service = {
  ...shared,
  bold: (text) => `<strong>${text}</strong>`,
  link: (url, text) => `<a href="${escapeHtml(url)}">${text}</a>`,
  escape: (text) => escapeHtml(plain(text)),
  entity: /&[a-z#0-9]{0,5}…$/,
};

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

/** @param lines escaped */
export function htmlDocument(lines: string, language: string): string {
  const style = 'font-family:sans-serif;font-size:14px;line-height:1.5';
  const body = lines.replaceAll('\n', '<br>\n');
  return `<!doctype html>\n<html lang="${language}"><head><meta charset="utf-8"></head><body style="${style}"><p>${body}</p></body></html>\n`;
}

/** The first line: what follows a line break would be another header. */
export function subjectOf(text: string): string {
  const [first = ''] = text.split('\n');
  return shorten(printable(first).trim(), LONGEST_SUBJECT);
}

/** The same for each attempt: who gets a mail twice can tell. */
export function idOf(parts: readonly string[], domain: string): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
  return `<${digest}@${domain}>`;
}
