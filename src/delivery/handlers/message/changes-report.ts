/** The edits of some days as a message: how many, compared with as many days before, of what, of whom, and which fields. Pure. */
import { wordsOfType } from '../../../events/describe.js';
import { shorten } from '../../../kit/printable.js';
import type { WorkspaceOverview } from '../../../log/overview.js';
import type { Formats } from '../../../words/format.js';
import { wordsFor } from '../../../words/words.js';
import type { TitledText } from '../titled.js';

/** What happens to a record as a whole. What is told beside it, such as that a todo was completed, is counted apart. */
const WHOLE: readonly string[] = ['created', 'updated', 'deleted'];
const BESIDE: readonly string[] = ['completed', 'overdue'];
const MOST = 8;
const LONGEST_NAME = 80;

export function changesText(
  { days, types, owners, fields }: WorkspaceOverview,
  { workspace, formats }: { workspace: string; formats: Formats },
): TitledText {
  const { t, word } = wordsFor(formats.language);
  const [first, last] = [days[0]?.date ?? '', days.at(-1)?.date ?? ''];
  const period = first === last ? first : `${first} – ${last}`;
  const whole = types.filter(({ type }) => WHOLE.includes(wordsOfType(type).verb));
  const sum = (of: 'count' | 'before'): number => whole.reduce((all, one) => all + one[of], 0);
  const named = (rows: readonly { name: string; count: number }[]): string =>
    rows
      .filter(({ count }) => count > 0)
      .slice(0, MOST)
      .map(({ name, count }) => `${shorten(name.replace(/\s+/gu, ' '), LONGEST_NAME)} ${formats.number(count)}`)
      .join(', ');
  const kindOf = (type: string): string => {
    const { object, verb } = wordsOfType(type);
    return `${word('object', object)} ${word('verb', verb)}`;
  };
  const beside = types.filter(({ type }) => BESIDE.includes(wordsOfType(type).verb));
  const lines: [string, string][] = [
    [t('report.byKind'), named([...whole, ...beside].map(({ type, count }) => ({ name: kindOf(type), count })))],
    [
      t('report.byOwner'),
      named(owners.map(({ id, name, count }) => ({ name: id === '' ? t('todos.nobody') : name, count }))),
    ],
    [t('report.byField'), named(fields.map(({ field, count }) => ({ name: field, count })))],
  ];
  return {
    title: t('report.changes', {
      ...{ workspace, period, count: formats.number(sum('count')), before: formats.number(sum('before')) },
    }),
    lines: lines.flatMap(([name, text]) => (text === '' ? [] : [`• ${name}: ${text}`])),
  };
}
