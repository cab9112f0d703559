/** A report in place of events: what a message or a mail says at a time of day, of the todos or of the changes since the report before. */
import { oneOf, strictOptions } from '../../kit/schema/fields.js';
import type { Formats } from '../../words/format.js';
import { days, timeOfDay } from './digest.js';
import type { ReportSubject, ReportOutcome, Subscription } from './handler.js';
import { changesText } from './message/changes-report.js';
import { reportText } from './message/todo-report.js';
import type { TitledText } from './titled.js';

const REPORTED = ['todos', 'changes'] as const satisfies readonly ReportSubject[];

export const reportOptions = strictOptions({
  /** `todos`: what is open and late, for each person in charge or team. `changes`: the edits of the days since the report before, in numbers. */
  what: oneOf(...REPORTED),
  /** In the workspace's time zone: `'09:00'`. */
  at: timeOfDay,
  /** On which days: `'daily'`, `'mon-fri'`, or an array such as `['mon']`. @defaultValue 'mon-fri' */
  days: days.prefault('mon-fri'),
  /** Of the todos: a line for each person in charge, or for each team. @defaultValue 'person' */
  per: oneOf('person', 'team').default('person'),
});

type Report = ReturnType<(typeof reportOptions)['parse']>;

/** The same receiver, which gets reports and no events. Null: it cannot say one. */
export function reporting(receiver: Subscription, { what, at, days: on, per }: Report): Subscription | null {
  const { tell, digest: _digest, handleDigest: _many, mostPerMinute: _most, ...rest } = receiver;
  if (tell === undefined) return null;
  return {
    ...rest,
    on: [],
    report: {
      what,
      schedule: { when: { at }, days: on },
      handle: (outcome, context) => {
        const { name: workspace } = context.workspace;
        const text = (formats: Formats): TitledText => textOfReport(outcome, { workspace, per, formats });
        return tell({ text, at: outcome.at, id: `report.${outcome.at}` }, context);
      },
    },
  };
}

interface About {
  workspace: string;
  per: 'person' | 'team';
  formats: Formats;
}

export function textOfReport(outcome: ReportOutcome, about: About): TitledText {
  return 'changes' in outcome ? changesText(outcome.changes, about) : reportText(outcome, about);
}
