/** What the ready rules would have told in the last 7 days: who became A, what was won and lost. Nothing has to be made for it. */
import { useEffect, useState } from 'preact/hooks';
import { act, type About } from '../api.js';
import { placeOf } from '../hooks.js';
import { usePreferences } from '../preferences.js';
import { ruleOf, type Draft } from './draft.js';
import { draftOfReady, readyFor, type Ready } from './ready.js';

const SHOWN: readonly Ready['name'][] = ['grade', 'won', 'lost', 'owner'];

const NEW: Draft = {
  rule: { id: 'overview', to: '', class: 'edited' },
  ...{ conditions: [], isAny: false, people: [], teams: [] },
};

interface Found {
  count: number;
  /** The log was not read to its beginning. */
  isPart: boolean;
  titles: readonly string[];
}

export function Highlights({ about }: { about: About }) {
  const { t } = usePreferences();
  const ready = readyFor(about).filter(({ name }) => SHOWN.includes(name));
  if (ready.length === 0) return null;
  return (
    <section class="card" aria-label={t('overview.week')}>
      <h2>{t('overview.week')}</h2>
      <dl class="facts">
        {ready.map((one) => (
          <Highlight key={one.name} ready={one} about={about} />
        ))}
      </dl>
    </section>
  );
}

const MOST_TITLES = 5;

function Highlight({ ready, about }: { ready: Ready & { object: string }; about: About }) {
  const { t, number } = usePreferences();
  const found = useFound(ready);
  const list = about.workspaces.flatMap(({ lists }) => lists).find(({ object }) => object === ready.object)?.name ?? '';
  const field = ready.conditions?.[0]?.[0] ?? '';
  return (
    <div>
      <dt>{t(`rules.ready.${ready.name}`)}</dt>
      <dd>
        {found === null ? (
          <span class="quiet">{t('overview.week.counting')}</span>
        ) : (
          <>
            <a href={placeOf('changes', { list, field, since: '7d' })}>
              {number(found.count)}
              {found.isPart && '+'}
            </a>{' '}
            <span class="quiet">{found.titles.join(', ')}</span>
          </>
        )}
      </dd>
    </div>
  );
}

/** Asked once: a preview reads much of the log. */
function useFound(ready: Ready & { object: string }): Found | null {
  const [found, setFound] = useState<Found | null>(null);
  useEffect(() => {
    let ended = false;
    const { to: _nobody, ...rule } = ruleOf(draftOfReady(ready, NEW)) ?? NEW.rule;
    act('previewRule', { rule })
      .then((answer) => {
        if (ended || answer.outcome === 'refused') return;
        const titles = answer.examples.slice(0, MOST_TITLES).map(({ title }) => title);
        setFound({ count: answer.selected, isPart: answer.next !== null, titles });
      })
      .catch(() => undefined);
    return () => void (ended = true);
  }, [ready.name, ready.object]);
  return found;
}
