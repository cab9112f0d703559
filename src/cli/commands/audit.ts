/** Who did what. */
import { listAudit as action } from '../../actions/feed-state.js';
import type { AuditEntry } from '../../ops/audit.js';
import { say } from '../answers.js';
import { defineFeedCommand, flag } from '../command.js';
import { localSecond } from '../print-event.js';
import { termOf } from '../terms.js';
import { printable, table } from '../text.js';

export const audit = defineFeedCommand({
  input: {
    since: termOf(action, 'since'),
    what: termOf(action, 'what'),
    by: termOf(action, 'by'),
    outcome: termOf(action, 'outcome'),
    subscription: termOf(action, 'subscription'),
    rule: termOf(action, 'rule'),
    limit: termOf(action, 'limit'),
    json: flag('one entry per line as JSON'),
  },
  async run({ json = false, ...query }, { feed }, io) {
    const { entries } = await action.run(
      { limit: 100, ...query },
      { feed, audit: { read: (wanted) => feed.audit(wanted) }, who: null },
    );
    if (json) for (const entry of entries) io.out(JSON.stringify(entry));
    else if (entries.length === 0) say(io, 'nothing was decided, as far as the audit goes back');
    else io.out(table(['when', 'who', 'from', 'what', 'outcome', 'about'], entries.map(cells), io.colours.out));
  },
});

function cells({ at, by, how, address, what, outcome, count, ...about }: AuditEntry): string[] {
  const facts = Object.entries(about).map(([name, value]) => `${name} ${String(value)}`);
  const number = count === 1 ? [] : [String(count)];
  const who = by === '' ? '–' : `${by} (${how})`;
  return [localSecond(at), who, address, what, outcome, [...facts, ...number].join(', ')].map(printable);
}
