/** What a problem means. The message of the log is English: where it is shown in another language, the original is a click away. */
import { problemText, type Facts } from '../src/words/problems.js';
import { formatsFor } from '../src/words/format.js';
import { usePreferences } from './preferences.js';

export interface ProblemTextProps {
  kind: string;
  message: string;
  facts?: Facts | undefined;
  severity?: string;
  /** One line, without the message of the log. */
  short?: boolean;
}

export function ProblemText({ severity = '', short = false, ...problem }: ProblemTextProps) {
  const { t, language } = usePreferences();
  const text = problemText(problem, formatsFor({ language, now: new Date().toISOString() }));
  const { message } = problem;
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
            {message}
          </p>
        </details>
      )}
    </>
  );
}
