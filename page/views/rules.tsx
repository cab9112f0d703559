/** Rules: what is sent where, made by choosing; the list of them, and the form of one. */
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Action } from '../action.js';
import type { Language } from '../formats.js';
import { act, pathOf, type About, type RulesAnswer, type SectionProps, type Subscription } from '../api.js';
import { Answer, Outcome } from '../deliveries.js';
import { placeOf, usePlace, usePolled } from '../hooks.js';
import { useSaid } from '../names.js';
import { Choice, Head, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import { draftOf, typesOf, type Draft, type RuleData } from '../rules/draft.js';
import { RuleForm } from '../rules/form.js';
import { hasDraft, keepRemoved, removedRules } from '../rules/kept.js';
import { changed, Doubts, SendOne, Sentence } from '../rules/parts.js';
import { ownNameOf, sentenceOf } from '../rules/sentence.js';
import { State, Switch } from '../subscription-state.js';
import { DeadCount } from '../subscription-view.js';

export function Rules({ about, canAct, status, again: readStatus }: SectionProps) {
  const { t, said, language } = usePreferences();
  const { query } = usePlace();
  const { value, error, again } = usePolled(pathOf('listRules', {}), 3_000);
  const chosen = query.get('rule');
  const from = query.get('from');
  const [search, setSearch] = useState('');
  const [order, setOrder] = useState<(typeof ORDERS)[number]>('file');
  // What a person is writing stays, also where the rule is gone from the file or the file is broken meanwhile.
  const opened = useMemo(() => {
    const known = value?.rules.find(({ id }) => id === chosen);
    if (known !== undefined) return { draft: draftOf(known.data), isOn: known.enabled };
    if (value === null || chosen !== 'new') return null;
    const copied = value.rules.find(({ id }) => id === from);
    const first = fresh(about, value, language);
    return { draft: (copied && asNew(copied.data, first)) ?? first, isOn: false };
  }, [chosen, from, value === null]);
  if (value === null) return <p class="quiet">{error ?? t('loading')}</p>;
  if (value.file === null)
    return (
      <>
        <Head title={t('nav.rules')}>{t('rules.intro')}</Head>
        <p class="empty">{t('rules.off')}</p>
        <pre tabIndex={0}>{CONFIGURED}</pre>
      </>
    );
  if (canAct && opened?.draft != null)
    return (
      <RuleForm
        key={`${chosen ?? ''} ${from ?? ''}`}
        {...{ chosen: chosen ?? 'new', first: opened.draft, isOn: opened.isOn, answer: value, about, again }}
      />
    );
  return (
    <>
      <Head title={t('nav.rules')}>{t('rules.intro')}</Head>
      {!canAct && <p class="quiet">{t('read.only')}</p>}
      {value.problem !== null && (
        <p class="notice bad" role="alert">
          {t('rules.invalid')} {said(value.problem)}
        </p>
      )}
      {canAct && (
        <p class="actions above">
          <a class="button main" href={placeOf('rules', { rule: 'new' })}>
            {t('rules.new')}
          </a>
        </p>
      )}
      {canAct && hasDraft('new') && (
        <p class="notice warn">
          {t('rules.unsaved')} <a href={placeOf('rules', { rule: 'new' })}>{t('rules.goOn')}</a>
        </p>
      )}
      {canAct && <Removed answer={value} again={again} />}
      {value.rules.length === 0 && value.problem === null && <p class="empty">{t('rules.none')}</p>}
      {value.rules.length > FEW && (
        <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
          <div class="fields">
            <TextField label={t('rules.search')} value={search} onText={setSearch} />
            <Choice
              label={t('rules.order')}
              value={order}
              onChoose={(one) => setOrder(ORDERS.find((known) => known === one) ?? 'file')}
              options={ORDERS.map((one) => [one, t(`rules.order.${one}`)])}
            />
          </div>
        </form>
      )}
      <ul>
        {shownRules(value.rules, search, order).map((rule) => (
          <Card
            key={rule.id}
            {...{ rule, answer: value, again, canAct, readStatus }}
            runs={status?.subscriptions.find(({ name }) => name === rule.subscription)}
          />
        ))}
      </ul>
    </>
  );
}

/** So many are seen at once. */
const FEW = 3;
const ORDERS = ['file', 'name', 'to'] as const;

type Rule = RulesAnswer['rules'][number];

function shownRules(rules: readonly Rule[], search: string, order: (typeof ORDERS)[number]): Rule[] {
  const part = search.trim().toLowerCase();
  const nameOf = ({ id, data }: Rule): string => (data as RuleData).title ?? id;
  const found = rules.filter((one) => JSON.stringify(one.data).toLowerCase().includes(part));
  if (order === 'file') return found;
  const keyOf = (one: Rule): string => (order === 'to' ? `${one.data.to} ${nameOf(one)}` : nameOf(one));
  return found.sort((one, other) => keyOf(one).localeCompare(keyOf(other)));
}

/** The same rule under another id, which nobody has named yet. */
function asNew(data: RulesAnswer['rules'][number]['data'], { rule: { id } }: Draft): Draft | null {
  const { title: _former, ...rest } = data as RuleData;
  return draftOf({ ...rest, id });
}

function fresh({ workspaces }: About, { destinations }: RulesAnswer, language: Language): Draft {
  const object = workspaces.flatMap(({ lists }) => lists).find(({ enabled }) => enabled)?.object ?? 'person';
  const id = Math.random().toString(36).slice(2, 10);
  const to = destinations[0]?.name ?? '';
  const rule: RuleData = { id, to, on: typesOf(object, 'updated'), class: 'edited', language };
  return { rule, conditions: [], isAny: false, people: [], teams: [] };
}

const CONFIGURED = `destinations: {
  '영업 채팅': { handler: 'message', service: 'slack', url: env('SALES_CHAT') },
},
rules: './changefeed.rules.json',`;

/** Saved again as it was. */
function Removed({ answer: { rules, revision }, again }: { answer: RulesAnswer; again: () => void }) {
  const { t, dateTime } = usePreferences();
  const removed = removedRules().filter(({ rule }) => rules.every(({ id }) => id !== rule.id));
  return (
    <>
      {removed.map(({ rule, untilMs }) => (
        <p key={rule.id} class="notice warn">
          {t('rules.removed', { title: rule.title ?? rule.id, time: dateTime(new Date(untilMs).toISOString()) })}{' '}
          <Action
            label={t('rules.undo')}
            run={() => changed(act('saveRule', { id: rule.id, revision, rule: { ...rule } }), t).finally(again)}
          >
            {rule.enabled !== false && <p>{t('rules.turnOnSure')}</p>}
          </Action>
        </p>
      ))}
    </>
  );
}

interface CardProps {
  rule: RulesAnswer['rules'][number];
  answer: RulesAnswer;
  again: () => void;
  canAct: boolean;
  /** Undefined where it does not run, or is not known yet. */
  runs: Subscription | undefined;
  readStatus: () => void;
}

/** It is on; whether it delivers is another question. */
function Running({ runs }: { runs: Subscription }) {
  const { t } = usePreferences();
  const said = useSaid();
  const { failingSince, lastError, paused, unreadable, name, dead } = runs;
  const isWell = (paused?.reason ?? failingSince ?? unreadable) === null;
  return (
    <>
      {isWell ? <span class="mark good">{t('rules.isOn')}</span> : <State subscription={runs} />}
      {failingSince !== null && lastError !== null && <p class="message">{said(lastError.message)}</p>}
      {dead > 0 && (
        <p>
          {t('sub.dead')}: <DeadCount name={name} dead={dead} />
        </p>
      )}
    </>
  );
}

function Card({ rule, answer: { revision }, again, canAct, runs: running, readStatus }: CardProps) {
  const { t, word, language } = usePreferences();
  const { id, enabled, runs, doubts, subscription } = rule;
  const data = rule.data as RuleData;
  const draft = draftOf(data);
  const text = draft === null ? (data.title ?? id) : sentenceOf(draft, { word, language });
  const ownName = draft === null ? '' : ownNameOf(data.title, draft);
  const { enabled: _former, ...on } = data;
  const turn = (): Promise<null> =>
    changed(act('saveRule', { id, revision, rule: enabled ? { ...on, enabled: false } : on }), t).finally(again);
  const remove = async (): Promise<null> => {
    const done = await changed(act('removeRule', { id, revision }), t).finally(again);
    keepRemoved(data);
    return done;
  };
  return (
    <li class="card rule">
      <h2>{ownName === '' ? <Sentence text={text} /> : <strong>{ownName}</strong>}</h2>
      {ownName !== '' && (
        <p class="quiet">
          <Sentence text={text} />
        </p>
      )}
      {enabled && runs && running !== undefined ? (
        <Running runs={running} />
      ) : (
        <span class={`mark ${enabled ? 'warn' : ''}`}>{t(enabled ? 'rules.begins' : 'rules.isOff')}</span>
      )}{' '}
      <span class="quiet small">
        {data.to} · {id}
      </span>
      <Doubts doubts={doubts} />
      {enabled && runs && <LastDay subscription={subscription} />}
      {draft === null && <p class="quiet">{t('rules.byHand')}</p>}
      <p class="actions">
        {canAct && draft !== null && (
          <a class="button" href={placeOf('rules', { rule: id })}>
            {t('rules.edit')}
          </a>
        )}
        {canAct && (
          <Action label={t(enabled ? 'rules.turnOff' : 'rules.turnOn')} main={!enabled} run={turn}>
            <p>{t(enabled ? 'rules.turnOffSure' : 'rules.turnOnSure')}</p>
          </Action>
        )}
        {canAct && enabled && runs && running !== undefined && <Switch subscription={running} again={readStatus} />}
        {canAct && data.report === undefined && <SendOne rule={data} />}
        {enabled && <a href={placeOf('subscriptions', { name: subscription })}>{t('rules.receipts')}</a>}
        <History id={id} />
        {canAct && draft !== null && <a href={placeOf('rules', { rule: 'new', from: id })}>{t('rules.asNew')}</a>}
        <CopyJson rule={data} />
        {canAct && (
          <Action label={t('rules.remove')} danger run={remove}>
            <p>{t('rules.removeSure')}</p>
          </Action>
        )}
      </p>
    </li>
  );
}

/** Read when it is asked for: there may be 200 rules. */
function LastDay({ subscription }: { subscription: string }) {
  const { t, number } = usePreferences();
  const [isOpen, setOpen] = useState(false);
  const { value, error } = usePolled(isOpen ? pathOf('describeSubscription', { subscription }) : null, 10_000);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('rules.lastDay')}</summary>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        <>
          <p>
            {t('rules.lastDayOf', {
              events: number(value.lastDay.events),
              delivered: number(value.lastDay.delivered),
              dead: number(value.lastDay.dead),
            })}
          </p>
          {value.lastAnswer !== null && (
            <p>
              {t('sub.lastAnswer')}: <Outcome delivery={value.lastAnswer} /> <Answer delivery={value.lastAnswer} />
            </p>
          )}
        </>
      )}
    </details>
  );
}

function History({ id }: { id: string }) {
  const { t, dateTime } = usePreferences();
  const read = async (): Promise<ComponentChildren> => {
    const { entries } = await act('readRuleHistory', { id });
    if (entries.length === 0) return <p class="quiet">{t('rules.noHistory')}</p>;
    return (
      <ul class="plain-list">
        {entries.map(({ at, by, what, changed: options }) => (
          <li key={at}>
            {[dateTime(at), by, t(`rules.did.${what}`), options.join(', ')].filter((one) => one !== '').join(' · ')}
          </li>
        ))}
      </ul>
    );
  };
  return (
    <Action label={t('rules.history')} sure={t('rules.show')} run={read}>
      <p>{t('rules.historyWhat')}</p>
    </Action>
  );
}

function CopyJson({ rule }: { rule: RuleData }) {
  const { t } = usePreferences();
  const [isCopied, setCopied] = useState(false);
  const copy = (): void =>
    void navigator.clipboard.writeText(JSON.stringify(rule, null, 2)).then(() => setCopied(true));
  return (
    <button type="button" onClick={copy}>
      {t(isCopied ? 'rules.copied' : 'rules.copy')}
    </button>
  );
}
