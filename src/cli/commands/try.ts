import type { Tried } from '../../delivery/ask/tried.js';
import { usage } from '../../kit/errors.js';
import { recordOption, wholeNumber, workspaceOption } from '../arguments.js';
import { argument, asText, defineFeedCommand, flag, option } from '../command.js';
import { localTime } from '../print-event.js';
import { answer, formatsOf } from '../answers.js';
import { cut, printable } from '../text.js';
import type { Formats } from '../../words/format.js';
import { wordsFor, type Words } from '../../words/words.js';

const tryCommand = defineFeedCommand({
  input: {
    subscription: argument('the name of a subscription', asText),
    last: option('duration', 'how far back (default: 7d)', asText),
    record: recordOption('only this record: each of its events, and why it was not selected'),
    workspace: workspaceOption('only this workspace'),
    number: option('number', 'show this many of the selected events (default: 10)', wholeNumber()),
    json: flag('print it as JSON, with every selected event'),
  },
  async run({ subscription, last, record, workspace, number, json = false }, { feed, config }, io) {
    if (record !== undefined && number !== undefined)
      throw usage('try: --record shows each event; --number has no effect.');
    const examples = number ?? (json ? Infinity : undefined);
    const tried = await feed.try(subscription, { last, record, workspace, examples, signal: io.signal });
    answer(io, json, tried, triedText(tried, formatsOf(config, io.env, tried.since)));
    return io.signal.aborted ? 1 : 0;
  },
});
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
