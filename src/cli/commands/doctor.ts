import type { Finding } from '../../service/doctor.js';
import { wordsFor, type Words } from '../../words/words.js';
import { languageOf } from '../answers.js';
import { defineCommand, flag } from '../command.js';
import { hanging, padded, printable, widthOf, type Colours } from '../text.js';

/** Reads only, and works while Redis or the API is away. */
export const doctor = defineCommand({
  input: { json: flag('print the findings as JSON') },
  async run({ json = false, config: path }, io) {
    const [{ examine }, { loadWith }] = await Promise.all([
      import('../../service/doctor.js'),
      import('../../config/load.js'),
    ]);
    const leaveOut = (problem: string): void => io.err(`Rules are left out: ${problem}`);
    const loaded = await loadWith({ ...io, path }, { leaveOut });
    const language = json ? 'en' : languageOf(loaded.config, io.env);
    const findings = await examine(loaded, { ...io, path, signal: io.signal, language });
    const { t } = wordsFor(language);
    const page = { t, colours: io.colours.out, columns: io.columns ?? 100 };
    io.out(json ? JSON.stringify({ findings }, null, 2) : findingsText(findings, page));
    return findings.some(({ result }) => result === 'error') ? 1 : 0;
  },
});

/** Errors last, where they are seen first. */
const ORDER = ['ok', 'skipped', 'warning', 'error'] as const;

interface Page {
  t: Words['t'];
  colours: Colours;
  columns: number;
}

function findingsText(findings: readonly Finding[], { t, colours, columns }: Page): string {
  const paint = { ok: colours.green, skipped: colours.dim, warning: colours.yellow, error: colours.red };
  const sorted = [...findings].sort((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result));
  const width = Math.max(...ORDER.map((result) => widthOf(t(`doctor.${result}`))));
  const indent = ' '.repeat(width + 2);
  const lines = sorted.flatMap(({ result, check, seen, todo }) => {
    const label = paint[result](padded(t(`doctor.${result}`), width));
    const text = hanging(`${indent}${printable(`${check}: ${seen}`)}`, columns, indent).slice(indent.length);
    const advice = todo === null ? [] : [hanging(`${indent}→ ${printable(todo)}`, columns, `${indent}  `)];
    return [`${label}  ${text}`, ...advice];
  });
  const number = (wanted: Finding['result']): number => findings.filter(({ result }) => result === wanted).length;
  const numbers = { errors: number('error'), warnings: number('warning'), fine: number('ok') };
  return [...lines, '', t('doctor.summary', numbers)].join('\n');
}
