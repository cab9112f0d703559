/** Who did what: decisions, refusals and sign-ins, the newest first. */
import { pathOf, type Answered, type SectionProps } from '../api.js';
import { placeOf, usePlace, usePolled } from '../hooks.js';
import { Invites } from '../invites.js';
import { useNames } from '../names.js';
import { Choice, Columns, Head } from '../parts.js';
import { usePreferences } from '../preferences.js';

const OUTCOMES = ['', 'done', 'refused', 'failed'] as const;

export function Audit({ canAct }: SectionProps) {
  const { t } = usePreferences();
  const outcome = OUTCOMES.find((one) => one === usePlace().query.get('outcome')) ?? '';
  const { value, error } = usePolled(pathOf('listAudit', { outcome: outcome === '' ? undefined : outcome }), 10_000);
  return (
    <>
      <Head title={t('nav.audit')}>{t('audit.intro')}</Head>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label={t('audit.filter')}
          value={outcome}
          onChoose={(one) => (location.hash = placeOf('audit', { outcome: one }))}
          options={OUTCOMES.map((one) => [one, t(`audit.outcome.${one}`)])}
        />
      </form>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : value.entries.length === 0 ? (
        <p class="empty">{t('audit.none')}</p>
      ) : (
        <div class="card wide">
          <table class="cards-when-narrow">
            <Columns names={[[t('audit.when')], [t('audit.who')], [t('audit.what')], [t('audit.about')]]} />
            <tbody>
              {value.entries.map((entry, at) => (
                <Line key={at} {...entry} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {canAct && <Invites />}
    </>
  );
}

function Line({ at, by, how, address, what, outcome, count, ...about }: Answered<'listAudit'>['entries'][number]) {
  const { t, word, dateTime, number } = usePreferences();
  const nameOf = useNames();
  /** What people call a rule, a subscription, or a list. One that is gone, or off, has only its id. */
  const calledIn = (what: string, value: unknown): string => {
    const text = String(value);
    if (what === 'rule') return nameOf(`rule-${text}`) === `rule-${text}` ? text : nameOf(`rule-${text}`);
    if (what === 'subscription') return nameOf(text);
    if (what === 'list') return word('list', text);
    if (what === 'until') return dateTime(text);
    if (what === 'did' || what === 'role') return word(what === 'did' ? 'rules.did' : 'role', text);
    return text;
  };
  const facts = Object.entries(about)
    .flatMap(([what, values]) => [values].flat().map((value) => calledIn(what, value)))
    .filter((one) => one !== '');
  return (
    <tr>
      <td data-label={t('audit.when')}>{dateTime(at)}</td>
      <td data-label={t('audit.who')} class="wrap">
        {by === '' ? t('audit.nobody') : word('role', by)}{' '}
        <span class="quiet">{[how, address].filter((one) => one !== '').join(', ')}</span>
      </td>
      <td data-label={t('audit.what')} class="wrap">
        {word('did', what)} {outcome !== 'done' && <span class="mark bad">{word('audit.outcome', outcome)}</span>}
      </td>
      <td data-label={t('audit.about')} class="wrap">
        {[...facts, ...(count === 1 ? [] : [number(count)])].join(' · ')}
      </td>
    </tr>
  );
}
