import { trySubscription } from '../../actions/subscriptions.js';
import type { Tried } from '../../delivery/ask/tried.js';
import { commandOf } from '../action-command.js';
import { localTime } from '../print-event.js';
import { cut, printable } from '../text.js';
import type { RefusedBy } from '../../events/pattern.js';
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
  const why = refusedBy === null ? '' : `  ${t('try.why', { reason: whyText(refusedBy, t) })}`;
  return `  ${localTime(observedAt)}  ${printable(type)}  ${printable(cut(title ?? record, 40))}${title === null ? '' : `  ${printable(record)}`}${why}`;
}

export function whyText(refusedBy: RefusedBy, t: Words['t']): string {
  const { found, wanted } = refusedBy;
  const reason = reasonText(refusedBy);
  if (found === null || wanted === null) return reason;
  return t('try.compared', { reason, found: printable(found), wanted: printable(wanted) });
}

function reasonText({ option: name, condition }: Pick<RefusedBy, 'option' | 'condition'>): string {
  return condition === null ? name : `${name} ${printable(condition)}`;
}
