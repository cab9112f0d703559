/** Parts that several sections are made of: a heading, fields of a form, names with values, and the text of a problem. */
import type { ComponentChildren } from 'preact';
import { problemText, type Facts } from '../src/words/problems.js';
import { formatsFor } from '../src/words/format.js';
import { usePreferences } from './preferences.js';

export function Head({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="head">
      <h1>{title}</h1>
      {typeof children === 'string' ? <p class="quiet">{children}</p> : children}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string | undefined;
  onChoose: (value: string) => void;
  options: readonly (readonly [value: string, label: string])[];
}

export function Choice({ label, value = '', onChoose, options }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** A choice that may be left open: all. A value that is no option any more stays to be seen. */
export function Filter({ value = '', options, ...choice }: ChoiceProps) {
  const { t } = usePreferences();
  const gone = value === '' || options.some(([one]) => one === value) ? [] : [[value, value] as const];
  return <Choice {...choice} value={value} options={[['', t('filter.all')], ...gone, ...options]} />;
}

interface TextFieldProps {
  label: string;
  value: string | undefined;
  onText: (value: string) => void;
  /** @defaultValue 'search' */
  type?: 'search' | 'text' | 'date' | 'datetime-local';
  placeholder?: string | undefined;
  /** Needed with suggestions. */
  id?: string;
  suggestions?: readonly string[];
}

export function TextField({
  label,
  value = '',
  onText,
  type = 'search',
  placeholder,
  id,
  suggestions,
}: TextFieldProps) {
  return (
    <label>
      {label}
      <input
        type={type}
        value={value}
        placeholder={placeholder}
        list={id && `suggested-${id}`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      {suggestions && (
        <datalist id={`suggested-${id}`}>
          {suggestions.slice(0, 50).map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </label>
  );
}

type Named = readonly [name: string, value: ComponentChildren, tone?: string];

/** Names and values, such as the id of an event or the address of a subscription. `tiles`: the values large. */
export function NamedFacts({
  facts,
  ...list
}: {
  facts: readonly Named[];
  class?: 'facts' | 'tiles' | 'values';
  label?: string;
}) {
  return (
    <dl class={list.class ?? 'facts'} aria-label={list.label}>
      {facts.map(([name, value, tone]) => (
        <div key={name} class={tone}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Columns({ names }: { names: readonly (readonly [label: string, align?: 'right'])[] }) {
  return (
    <thead>
      <tr>
        {names.map(([label, align]) => (
          <th key={label} scope="col" class={align}>
            {label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

export interface ProblemTextProps {
  kind: string;
  message: string;
  facts?: Facts | undefined;
  severity?: string;
  /** One line, without the message of the log. */
  short?: boolean;
}

/** Says what a problem means. The message of the log is English: in another language, the original is a click away. */
export function ProblemText({ severity = '', short = false, ...problem }: ProblemTextProps) {
  const { t, language } = usePreferences();
  const text = problemText(problem, formatsFor({ language, now: new Date().toISOString() }), { hasButtons: true });
  const { kind, message } = problem;
  if (short) return <p class="glance clipped">{text}</p>;
  return (
    <>
      <p class={`message ${severity}`} {...(text === message && { lang: 'en' })}>
        {text}
      </p>
      {language !== 'en' && text !== message && (
        <details>
          <summary>{t('problems.original')}</summary>
          <p class={`message ${severity}`} lang="en">
            {kind}: {message}
          </p>
        </details>
      )}
    </>
  );
}
