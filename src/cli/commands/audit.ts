/** Who did what. */
import { listAudit } from '../../actions/feed-state.js';
import type { AuditEntry } from '../../ops/audit.js';
import { commandOf } from '../action-command.js';
import { localSecond } from '../print-event.js';
import { printable, table } from '../text.js';

export const audit = commandOf(listAudit, {
  rows: ({ entries }) => entries,
  text({ entries }, { io }) {
    if (entries.length === 0) return 'nothing was decided, as far as the audit goes back';
    return table(['when', 'who', 'from', 'what', 'outcome', 'about'], entries.map(cells), io.colours.out, io.columns);
  },
});

function cells({ at, by, how, address, what, outcome, count, ...about }: AuditEntry): string[] {
  const facts = Object.entries(about).map(([name, value]) => `${name} ${String(value)}`);
  const number = count === 1 ? [] : [String(count)];
  const who = by === '' ? '–' : `${by} (${how})`;
  return [localSecond(at), who, address, what, outcome, [...facts, ...number].join(', ')].map(printable);
}
