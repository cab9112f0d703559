import { erase as action } from '../../actions/lists.js';
import type { Erased } from '../../ops/forgetting/erase.js';
import { commandOf } from '../action-command.js';
import { count, printable } from '../text.js';

export const erase = commandOf(action, {
  text: (found, { input: { dryRun } }) => (dryRun === true ? foundText(found) : erasedText(found)),
});

function foundText(found: Erased): string {
  const { stored, events, outOfReach } = found;
  const there = `${stored ? 'It is stored' : 'It is not stored'}; ${count(events, 'event')} of it in the log. Nothing was changed.`;
  const reached = outOfReach.map(({ subscription, handler }) => `${subscription} (${handler})`).join(', ');
  return [there, ...relatedLines(found), ...(reached === '' ? [] : [`May have been delivered by: ${reached}.`])].join(
    '\n',
  );
}

const DISK = {
  rewriting: 'Redis writes its files anew now; until it has done so, they still have the record.',
  refused:
    'Redis did not write its files anew: run BGREWRITEAOF (and BGSAVE) there. Until then they still have the record.',
  none: '',
};

function erasedText(erased: Erased): string {
  const { stored, events, changes, kept, tables, outOfReach, disk, tombstone } = erased;
  const { deliveries = 0, deadLetters = 0, receipts = 0, running = 0 } = kept ?? {};
  const parts = [
    stored ? 'the record' : 'no stored record',
    `${count(events, 'event')} in the log`,
    `${count(changes ?? 0, 'change')} in its history`,
    `${count(deliveries, 'delivery', 'deliveries')} that waited`,
    count(deadLetters, 'dead letter'),
    count(receipts, 'receipt'),
  ];
  return [
    `Erased: ${parts.join(', ')}. It is kept out from now on (tombstone ${tombstone}).`,
    ...(running === 0
      ? []
      : [
          `NOT DONE: ${count(running, 'delivery is', 'deliveries are')} still being handled. Repeat the command when they have ended.`,
        ]),
    ...tables.map(({ subscription, rows, problem }) =>
      problem === null
        ? `Table of ${subscription}: ${count(rows, 'row')} deleted.`
        : `NOT DONE: table of ${subscription}: ${problem} Repeat the command then.`,
    ),
    ...(disk === null || DISK[disk] === '' ? [] : [DISK[disk]]),
    ...relatedLines(erased),
    'Out of reach, erase it there:',
    ...outOfReach.map(
      ({ subscription, handler, address }) => `  what "${subscription}" has delivered (${address ?? handler})`,
    ),
    '  backups and replicas of Redis and PostgreSQL, and logs of your handlers',
  ].join('\n');
}

const MOST_SHOWN = 50;

/** What a person does about it. */
const MENTIONED = {
  log: 'until retention drops the notice',
  subscription: 'in the reason of its pause or its last error, until it is resumed',
  rule: 'correct the rule',
} as const;

function relatedLines({ related, mentions }: Erased): string[] {
  const named = mentions.map((one) => `Also named by the ${one.in} ${printable(one.name)}: ${MENTIONED[one.in]}.`);
  if (related.length === 0) return ['No other record names it.', ...named];
  const more = related.length - MOST_SHOWN;
  return [
    ...named,
    `${count(related.length, 'other record')} that ${related.length === 1 ? 'contains' : 'contain'} its id, name, e-mail address or phone number, not erased:`,
    ...related.slice(0, MOST_SHOWN).map((one) => `  ${one.list} ${printable(one.id)}`),
    ...(more > 0 ? [`  and ${more} more (--json shows all)`] : []),
  ];
}
