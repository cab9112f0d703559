/** The parts of an event that a row and its details have in common. */
import { whoText } from '../src/words/who.js';
import type { EventView, ValueView } from './api.js';
import { placeOf } from './hooks.js';
import { usePreferences } from './preferences.js';

export interface ShownChange {
  field: string;
  /** Undefined where it is not known: a row of a history only has the new value. */
  before?: ValueView;
  after: ValueView;
  actor: EventView['actor'];
}

export function isOfFeed({ type }: EventView): boolean {
  return type.startsWith('changefeed.');
}

/** The address of the record that an event is about; null where it is about none. */
export function recordOf({ workspace, records: [about = ''], schema, type }: EventView): string | null {
  const at = about.indexOf(':');
  if (at < 0 || schema !== null || !type.startsWith('crm.')) return null;
  return placeOf('records', { workspace, list: about.slice(0, at), id: about.slice(at + 1) });
}

/** `person updated`. A row of a history is a change of the record that it is about. */
export function Kind({ event }: { event: EventView }) {
  const { word } = usePreferences();
  const { object, verb, row, records } = event;
  const [of = object] = records[0]?.split(':') ?? [];
  const text = isOfFeed(event)
    ? `${word('object', 'feed')}: ${word('problem', `${object}.${verb}`)}`
    : `${word('object', row === null ? object : of)} ${word('verb', row === null ? verb : 'updated')}`;
  return <span class="kind">{text}</span>;
}

export function BeforeAfter({ change: { before, after } }: { change: ShownChange }) {
  return (
    <>
      {before !== undefined && <Value value={before} side="before" />} <span aria-hidden="true">→</span>{' '}
      <Value value={after} side="after" />
    </>
  );
}

/** Empty values and differences of spaces would otherwise not be seen. */
function Value({ value, side }: { value: ValueView; side: 'before' | 'after' }) {
  const { t, valueText } = usePreferences();
  const Tag = side === 'before' ? 'del' : 'ins';
  const text = valueText(value);
  return (
    <Tag>
      <span class="unseen">{t(side)}: </span>
      {text === null ? <i>{t('value.none')}</i> : text}
    </Tag>
  );
}

/** @param isShort a person by the name alone, after a pen: in a row there is little room */
export function By({
  actor: { type, name },
  isShort = false,
}: {
  actor: NonNullable<EventView['actor']>;
  isShort?: boolean;
}) {
  const { t, word } = usePreferences();
  const text = whoText({ type, name }, { t, word });
  if (!isShort || type !== 'user' || name === null || name === '')
    return (
      <span class="by" title={word('actor', type)}>
        {text}
      </span>
    );
  return (
    <span class="by" title={text}>
      <span aria-hidden="true">✎ {name}</span>
      <span class="unseen">{text}</span>
    </span>
  );
}
