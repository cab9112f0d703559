/** Shows what the rule would have done in the last 7 days, while it is being made; and why not for a record. Nothing is sent. */
import { useEffect, useState } from 'preact/hooks';
import { act, messageOf, type Answered } from '../api.js';
import { Why } from '../deliveries.js';
import { useSettled } from '../hooks.js';
import { TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import type { RuleData } from './draft.js';
import { Doubts } from './parts.js';

type RulePreview = Answered<'previewRule'>;
type Found = Extract<RulePreview, { outcome: 'tried' }>;
type Shown = Found | { error: string } | null;

/** A log that takes longer than a second is read in several answers, the newest events first. */
function usePreview(rule: RuleData | null, search?: string): Shown {
  const [shown, setShown] = useState<Shown>(null);
  const wanted = useSettled(
    rule === null || search === '' ? null : JSON.stringify({ rule, ...(search !== undefined && { search }) }),
    300,
  );
  useEffect(() => {
    setShown(null);
    if (wanted === null) return;
    let ended = false;
    const asked = JSON.parse(wanted) as { rule: Record<string, unknown>; search?: string };
    const read = async (): Promise<void> => {
      let sum: Found | null = null;
      let from: string | undefined;
      do {
        // The digest of the newest match is known by then.
        const call: { rule: Record<string, unknown> } = {
          ...asked,
          ...(sum?.digest && { rule: { ...asked.rule, digest: false } }),
          ...(from && { from }),
        };
        const answer: RulePreview = await act('previewRule', call);
        if (answer.outcome === 'refused') throw new Error(answer.why);
        sum = sum === null ? answer : together(sum, answer);
        if (!ended) setShown(sum);
        from = sum.next ?? undefined;
      } while (!ended && from !== undefined);
    };
    read().catch((error: unknown) => !ended && setShown({ error: messageOf(error) }));
    return () => void (ended = true);
  }, [wanted]);
  return shown;
}

const MOST_SHOWN = 10;

function together(one: Found, older: Found): Found {
  const examples = [...one.examples, ...older.examples].slice(0, Math.max(MOST_SHOWN, one.examples.length));
  const perDay = one.perDay.map((count, day) => count + (older.perDay[day] ?? 0));
  const counts = { read: one.read + older.read, selected: one.selected + older.selected, perDay };
  return { ...one, ...counts, examples, digest: one.digest ?? older.digest, next: older.next };
}

interface PreviewProps {
  rule: RuleData | null;
  /** Told how many matches the busiest day had; 0 where nothing is known. */
  onBusiest: (count: number) => void;
}

export function Preview({ rule, onBusiest }: PreviewProps) {
  const { t, number, dateTime } = usePreferences();
  const [search, setSearch] = useState('');
  const shown = usePreview(rule);
  const found = usePreview(rule, search.trim());
  const perDay = shown !== null && 'perDay' in shown && shown.selected > 0 ? shown.perDay : [];
  const busiest = Math.max(0, ...perDay);
  useEffect(() => onBusiest(busiest), [busiest]);
  return (
    <section class="card preview" aria-label={t('rules.preview')}>
      <h2>{t('rules.preview')}</h2>
      <p role="status">
        {rule === null
          ? t('rules.incomplete')
          : shown === null
            ? t('counting')
            : 'error' in shown
              ? shown.error
              : rule.report !== undefined
                ? t('rules.reportNow')
                : t(
                    rule.unchanged !== undefined
                      ? 'rules.foundNow'
                      : shown.next === null
                        ? 'rules.found'
                        : 'rules.foundSoFar',
                    {
                      count: number(shown.selected),
                      read: number(shown.read),
                    },
                  )}
      </p>
      {shown !== null && 'selected' in shown && perDay.length > 0 && (
        <p>
          {t('rules.perDay', {
            mean: number(Math.round(shown.selected / perDay.length)),
            most: number(busiest),
          })}
        </p>
      )}
      {shown !== null && 'examples' in shown && (
        <>
          <Doubts doubts={shown.doubts} />
          {shown.digest !== null && (
            <>
              <p>
                {t(rule?.report === undefined ? 'rules.digestAt' : 'rules.reportAt', {
                  time: dateTime(shown.digest.at),
                })}
              </p>
              <pre tabIndex={0}>{shown.digest.text}</pre>
            </>
          )}
          <ol class="plain-list matches">
            {shown.examples.map(({ id, title, at, text }) => (
              <li key={id}>
                <p class="what">
                  <span class="title">{title}</span> <time dateTime={at}>{dateTime(at)}</time>
                </p>
                {shown.digest === null && <p class="as-sent">{text}</p>}
              </li>
            ))}
          </ol>
        </>
      )}
      {rule?.report === undefined && <TextField label={t('rules.whyNot')} value={search} onText={setSearch} />}
      {found !== null && 'examples' in found && (
        <ul class="plain-list">
          {found.examples.length === 0 && <li>{t('rules.noneCalled')}</li>}
          {found.examples.map(({ id, title, at, refusedBy }) => (
            <li key={id}>
              {`${title}, ${dateTime(at)}: `}
              {refusedBy === null ? (
                t('rules.wouldBeSent')
              ) : (
                <>
                  {t('rules.because')} <Why refusedBy={refusedBy} />
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
