import { trySubscription } from '../../actions/subscriptions.js';
import type { Tried } from '../../delivery/ask/tried.js';
import { commandOf } from '../action-command.js';
import { localTime } from '../print-event.js';
import { cut, printable } from '../text.js';
import type { Formats } from '../../words/format.js';
import { wordsFor, type Words } from '../../words/words.js';

const tryCommand = commandOf(trySubscription, { text: (tried, { words }) => triedText(tried, words) });
export { tryCommand as try };

function triedText(
  { subscription: name, since, read, selected, byType, refused, tried }: Tried,
  { language, number }: Formats,
): string {
  const { t, countOf } = wordsFor(language);
  const when = localTime(since);
  return [
    t('try.found', { name, selected: number(selected), events: countOf('event', read), when }),
    ...Object.entries(byType).map(([type, events]) => `  ${printable(type)}  ${number(events)}`),
    ...(refused.length === 0 ? [] : [t('try.refused')]),
    ...refused.map((one) => `  ${reasonText(one)}  ${number(one.events)}`),
    ...(tried.length === 0 ? [] : [t(tried.length < read ? 'try.newest' : 'try.all')]),
    ...tried.map((one) => line(one, t)),
  ].join('\n');
}

function line({ observedAt, type, record, title, refusedBy }: Tried['tried'][number], t: Words['t']): string {
  const why = refusedBy === null ? '' : `  ${t('try.why', { reason: reasonText(refusedBy) })}`;
  return `  ${localTime(observedAt)}  ${printable(type)}  ${printable(cut(title ?? record, 40))}${title === null ? '' : `  ${printable(record)}`}${why}`;
}

function reasonText({ option: name, condition }: NonNullable<Tried['tried'][number]['refusedBy']>): string {
  return condition === null ? name : `${name} ${printable(condition)}`;
}
