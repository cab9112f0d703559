/** What a problem means. The message of the log has the names and numbers, and is English: on a Korean page it is a click away. */
import { koFailures, koHeld, koProblems } from './text/ko-problems.js';
import { usePreferences } from './preferences.js';

export interface ProblemTextProps {
  /** Of a problem, or the code of an error. */
  kind: string;
  message: string;
  severity?: string;
  /** One line, without the message of the log. */
  short?: boolean;
}

export function ProblemText({ kind, message, severity = '', short = false }: ProblemTextProps) {
  const { t, language } = usePreferences();
  const original = (
    <p class={`message ${severity}`} lang="en">
      {message}
    </p>
  );
  const texts: Readonly<Record<string, string>> = { ...koProblems, ...koFailures };
  const text = language === 'ko' && Object.hasOwn(texts, kind) ? texts[kind] : undefined;
  if (short) return <p class="glance clipped">{text === undefined ? message : `${text}${koHeld(message)}`}</p>;
  if (text === undefined) return original;
  return (
    <>
      <p class={`message ${severity}`}>{`${text}${koHeld(message)}`}</p>
      <details>
        <summary>{t('problems.original')}</summary>
        {original}
      </details>
    </>
  );
}
