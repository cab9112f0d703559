/** Prints what waits until a person decides about a list. */
import { listHeld } from '../../actions/lists.js';
import type { HeldRecords } from '../../ops/server/page/source.js';
import { heldText } from '../../ops/watch/problems.js';
import type { Speech } from '../../actions/define.js';
import { commandOf } from '../action-command.js';
import { cut, printable } from '../text.js';

const PLACES = 40;

export const held = commandOf(listHeld, {
  rows: (found) => found.held,
  text: (found, { words }) =>
    found.held.length === 0 ? words.t('status.nothingHeld') : found.held.map((one) => textOf(one, words)).join('\n'),
});

function textOf(one: HeldRecords, words: Speech): string {
  const { t, word, language, dateTime } = words;
  const names = one.examples.map(({ id, title }) => printable(cut(title ?? id, PLACES)));
  return [
    `${one.workspace} ${language === 'en' ? one.list : word('list', one.list)}: ${heldText(one, words)}`,
    ...(names.length === 0 ? [] : [t('status.examples', { names: names.join(', ') })]),
    t('status.since', { when: dateTime(one.since) }),
    t('status.decide', { place: `${one.list} --workspace ${one.workspace}` }),
  ].join(' ');
}
