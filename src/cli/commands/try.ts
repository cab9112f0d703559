import type { Tried } from '../../delivery/tried.js';
import { usage } from '../../kit/errors.js';
import { recordOption, wholeNumber, workspaceOption } from '../arguments.js';
import { argument, asText, defineFeedCommand, flag, option } from '../command.js';
import { localTime } from '../print-event.js';
import { answer } from '../answers.js';
import { count, cut, printable } from '../text.js';

const tryCommand = defineFeedCommand({
  input: {
    subscription: argument('the name of a subscription', asText),
    last: option('duration', 'how far back (default: 7d)', asText),
    record: recordOption('only this record: each of its events, and why it was not selected'),
    workspace: workspaceOption('only this workspace'),
    number: option('number', 'show this many of the selected events (default: 10)', wholeNumber()),
    json: flag('print it as JSON, with every selected event'),
  },
  async run({ subscription, last, record, workspace, number, json = false }, { feed }, io) {
    if (record !== undefined && number !== undefined)
      throw usage('try: --record shows each event; --number has no effect.');
    const examples = number ?? (json ? Infinity : undefined);
    const tried = await feed.try(subscription, { last, record, workspace, examples, signal: io.signal });
    answer(io, json, tried, triedText(tried));
    return io.signal.aborted ? 1 : 0;
  },
});
export { tryCommand as try };

function triedText({ subscription, since, read, selected, byType, refused, tried }: Tried): string {
  const types = Object.entries(byType).map(([type, number]) => `  ${printable(type)}  ${number.toLocaleString('en')}`);
  const others = refused.map((one) => `  ${reasonText(one)}  ${one.events.toLocaleString('en')}`);
  return [
    `"${subscription}" would have got ${selected.toLocaleString('en')} of ${count(read, 'event')} since ${localTime(since)}. Nothing was sent.`,
    ...types,
    ...(others.length === 0 ? [] : ['The others are left out by:', ...others]),
    ...(tried.length === 0 ? [] : [tried.length < read ? 'The newest:' : 'Its events:', ...tried.map(line)]),
  ].join('\n');
}

function line({ observedAt, type, record, title, refusedBy }: Tried['tried'][number]): string {
  const why = refusedBy === null ? '' : `  not selected: ${reasonText(refusedBy)}`;
  return `  ${localTime(observedAt)}  ${printable(type)}  ${printable(cut(title ?? record, 40))}${title === null ? '' : `  ${printable(record)}`}${why}`;
}

function reasonText({ option: name, condition }: NonNullable<Tried['tried'][number]['refusedBy']>): string {
  return condition === null ? name : `${name} ${printable(condition)}`;
}
