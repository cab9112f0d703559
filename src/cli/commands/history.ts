/** The time line of a record. */
import { readRecordHistory } from '../../actions/history.js';
import type { HistoryChange, RecordHistory } from '../../feed/history/record-history.js';
import { textOfActor } from '../../events/actor.js';
import type { Speech } from '../../actions/define.js';
import { commandOf } from '../action-command.js';
import { localTime } from '../print-event.js';
import { cut, printable } from '../text.js';

export const history = commandOf(readRecordHistory, {
  text: (found, { words }) => historyText(found as RecordHistory, words),
});

const PLACES = 36;

function historyText({ list, id, title, since, changes, next }: RecordHistory, words: Speech): string {
  const { t } = words;
  const known = since === null ? t('history.none') : t('history.since', { since: localTime(since) });
  return [
    [...(title === null ? [] : [cut(printable(title), 2 * PLACES)]), printable(`${list} ${id}`)].join('  '),
    ...changes.flatMap((change) => changeLines(change, words)),
    ...(next === null ? [known] : [t('history.more', { command: `--before ${next}` })]),
  ].join('\n');
}

/** `2026-03-01 21:30  updated  by 김민수`, and a line below for each field. */
function changeLines({ observedAt, type, actor, changes, mergedInto }: HistoryChange, words: Speech): string[] {
  const { t, value } = words;
  const verb = type?.split('.')[2];
  const what = verb === undefined ? t('history.stored') : words.language === 'en' ? verb : words.word('verb', verb);
  const by = actor === null ? [] : [t('event.by', { name: printable(textOfActor(actor, words)) })];
  const into = mergedInto === undefined ? [] : [printable(t('event.merged', { id: mergedInto }))];
  const shown = (given: unknown): string => cut(printable(value(given) ?? '—'), PLACES);
  return [
    [localTime(observedAt), what, ...by, ...into].join('  '),
    ...changes.map(({ field, before, after, actor: own }) => {
      const who = own === undefined ? '' : `  ${t('event.by', { name: printable(textOfActor(own, words)) })}`;
      return `  ${printable(field)}: ${shown(before)} → ${shown(after)}${who}`;
    }),
  ];
}
