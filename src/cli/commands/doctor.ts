import type { Finding } from '../../service/doctor.js';
import { defineCommand, flag } from '../command.js';
import { count, hanging, printable, widthOf, type Colours } from '../text.js';

/** Reads only, and works while Redis or the API is away. */
export const doctor = defineCommand({
  input: { json: flag('print the findings as JSON') },
  async run({ json = false, config: path }, io) {
    const { examine } = await import('../../service/doctor.js');
    const findings = await examine({ ...io, path, signal: io.signal });
    io.out(json ? JSON.stringify({ findings }, null, 2) : findingsText(findings, io.colours.out, io.columns ?? 100));
    return findings.some(({ result }) => result === 'error') ? 1 : 0;
  },
});

/** Errors last, where they are seen first. */
const ORDER = ['ok', 'skipped', 'warning', 'error'] as const;

function findingsText(findings: readonly Finding[], colours: Colours, columns: number): string {
  const paint = { ok: colours.green, skipped: colours.dim, warning: colours.yellow, error: colours.red };
  const sorted = [...findings].sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
  const width = Math.max(...ORDER.map(widthOf));
  const indent = ' '.repeat(width + 2);
  const lines = sorted.flatMap(({ result, check, seen, todo }) => {
    const label = paint[result](result.padEnd(width));
    const text = hanging(`${indent}${printable(`${check}: ${seen}`)}`, columns, indent).slice(indent.length);
    const advice = todo === null ? [] : [hanging(`${indent}→ ${printable(todo)}`, columns, `${indent}  `)];
    return [`${label}  ${text}`, ...advice];
  });
  const number = (wanted: Finding['result']): number => findings.filter(({ result }) => result === wanted).length;
  const summary = `${count(number('error'), 'error')}, ${count(number('warning'), 'warning')}, ${number('ok')} in order`;
  return [...lines, '', summary].join('\n');
}
