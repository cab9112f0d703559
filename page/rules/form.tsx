/** The form of a rule: four sentences, each a choice, read as one line at the top; beside it what the rule would have done. */
import { useState } from 'preact/hooks';
import { act, messageOf, type About, type RulesAnswer } from '../api.js';
import { Choice } from '../parts.js';
import { usePreferences } from '../preferences.js';
import { ConditionFields, Owners } from './conditions.js';
import * as drafts from './draft.js';
import type { Draft, Fields, RuleData } from './draft.js';
import { useDraft } from './kept.js';
import { changed, Check, Sentence, SendOne } from './parts.js';
import { HowOften } from './how-often.js';
import { Preview } from './preview.js';
import { ReadyRules } from './ready.js';
import { ReportFields } from './report.js';
import { RuleName, SaveButton } from './save-button.js';
import { ownNameOf, plain, sentenceOf } from './sentence.js';
import { UnchangedFields } from './unchanged.js';
import { useFields } from './use-fields.js';

interface FormProps {
  /** The id of the rule, or `new`. */
  chosen: string;
  first: Draft;
  isOn: boolean;
  answer: RulesAnswer;
  about: About;
  again: () => void;
}

export function RuleForm({ chosen, first, isOn, answer, about, again }: FormProps) {
  const { t, word, language } = usePreferences();
  // A rule that is saved over another change is saved again by who knows it: with the file as it is then.
  const kept = useDraft(chosen, { draft: first, revision: answer.revision });
  const handlerOf = (to: string): string | undefined => answer.destinations.find(({ name }) => name === to)?.handler;
  const { setDraft } = kept;
  const draft = drafts.withUsualDigest(kept.draft, handlerOf(kept.draft.rule.to));
  const [failed, setFailed] = useState<string | null>(null);
  const [busiest, setBusiest] = useState(0);
  const { rule } = draft;
  const set = (part: Partial<RuleData>): void => setDraft({ ...draft, rule: { ...rule, ...part } });
  const fields = useFields(rule, about);
  const sentence = sentenceOf(draft, { word, language });
  const isComplete = drafts.isComplete(draft);
  const made = isComplete ? drafts.ruleOf(draft) : null;
  const ownName = ownNameOf(rule.title, first);
  const saved = made && { ...made, title: ownName.trim() === '' ? plain(sentence) : ownName.trim() };
  const save = (enabled: boolean): void => {
    const { enabled: _former, ...body } = saved ?? rule;
    changed(act('saveRule', { id: rule.id, revision: kept.revision, rule: enabled ? body : { ...body, enabled } }), t)
      .then(() => {
        kept.forget();
        location.hash = '#/rules';
      })
      .catch(async (error: unknown) => {
        const why = messageOf(error);
        // Who is told of the other change may save over it at once: the form names the file as it is at that time.
        if (why === t('rules.changed')) kept.setRevision((await act('listRules', {})).revision);
        setFailed(why);
      })
      .catch((error: unknown) => setFailed(messageOf(error)))
      .finally(again);
  };
  const handler = handlerOf(rule.to);
  const isRead = handler === 'message' || handler === 'email';
  const tell = (to: string): void => setDraft({ ...draft, rule: drafts.sentTo(rule, to, handlerOf(to)) });
  return (
    <>
      <p class="back">
        <a href="#/rules">← {t('nav.rules')}</a>
      </p>
      <h1 class="sentence">
        <Sentence text={sentence} />
      </h1>
      {kept.isRestored && (
        <p class="notice warn">
          {t('rules.restored')}{' '}
          <button type="button" onClick={kept.forget}>
            {t('rules.startAnew')}
          </button>
        </p>
      )}
      {chosen === 'new' && draft.conditions.length === 0 && rule.report === undefined && (
        <ReadyRules about={about} first={first} take={setDraft} />
      )}
      <div class="rule-form">
        <form class="ask" onSubmit={(event) => event.preventDefault()}>
          {rule.report === undefined ? (
            <When draft={draft} setDraft={setDraft} about={about} fields={fields} />
          ) : (
            <ReportFields report={rule.report} set={(report) => set({ report })} />
          )}
          <Who {...{ rule, set, tell, destinations: answer.destinations }} />
          {isRead && rule.report === undefined && (
            <HowOften
              key={kept.isRestored}
              {...{ rule, isMail: handler === 'email' }}
              setRule={(next) => setDraft({ ...draft, rule: next })}
            />
          )}
          {isRead && !rule.digest && rule.report === undefined && <Text rule={rule} set={set} names={fields.names} />}
          <RuleName name={ownName} first={first} sentence={plain(sentence)} setTitle={(title) => set({ title })} />
          {isComplete && made === null && <p class="notice bad">{t('rules.twice')}</p>}
          {failed !== null && (
            <p class="notice bad" role="alert">
              {failed}
            </p>
          )}
          <p class="actions">
            <SaveButton
              label={t(isOn ? 'rules.save' : 'rules.saveOn')}
              busiest={busiest}
              disabled={saved === null}
              save={() => save(true)}
            />
            {!isOn && (
              <button type="button" disabled={saved === null} onClick={() => save(false)}>
                {t('rules.saveOff')}
              </button>
            )}
            {saved !== null && saved.report === undefined && <SendOne rule={saved} />}
          </p>
        </form>
        <Preview rule={made} onBusiest={setBusiest} />
      </div>
    </>
  );
}

interface WhoProps {
  rule: RuleData;
  set: (part: Partial<RuleData>) => void;
  tell: (to: string) => void;
  destinations: RulesAnswer['destinations'];
}

function Who({ rule, set, tell, destinations }: WhoProps) {
  const { t } = usePreferences();
  const chosen = destinations.find(({ name }) => name === rule.to);
  return (
    <fieldset class="card">
      <legend>{t('rules.who')}</legend>
      <Choice
        label={t('rules.to')}
        value={rule.to}
        onChoose={tell}
        options={destinations.map(({ name, place }) => [name, `${name} (${place})`])}
      />
      {chosen?.handler === 'message' && (
        <Check label={t('rules.mention')} isOn={rule.mention ?? chosen.mention} set={(mention) => set({ mention })} />
      )}
      {destinations.length === 0 && <p class="notice bad">{t('rules.noDestinations')}</p>}
    </fieldset>
  );
}

interface WhenProps {
  draft: Draft;
  setDraft: (draft: Draft) => void;
  about: About;
  fields: Fields;
}

const MOST_CONDITIONS = 5;

function When({ draft, setDraft, about: { workspaces }, fields }: WhenProps) {
  const { t, word } = usePreferences();
  const { rule, conditions, isAny, people, teams } = draft;
  const { object, verb } = drafts.eventOf(rule);
  const lists = workspaces.flatMap((one) => one.lists).filter(({ enabled }) => enabled);
  const objects = [...new Set(lists.map((one) => one.object))];
  const verbs: readonly string[] = object === 'todo' ? [...drafts.TODO_VERBS, ...drafts.VERBS] : drafts.VERBS;
  const set = (part: Partial<Draft>): void => setDraft({ ...draft, ...part });
  const { from: _from, ...byAnyone } = rule;
  const start = (next: { object: string; verb: string }): void =>
    set({
      rule: drafts.ofVerb({ ...byAnyone, on: drafts.typesOf(next.object, next.verb) }, next.verb),
      conditions: [],
      isAny: false,
      people: [],
      teams: [],
    });
  const { workspaces: _workspaces, ...everywhere } = rule;
  const more = drafts.pairOf('', drafts.operatorsFor('text', verb)[0] ?? 'is', rule);
  return (
    <fieldset class="card">
      <legend>{t('rules.when')}</legend>
      <div class="fields">
        {workspaces.length > 1 && (
          <Choice
            label={t('filter.workspace')}
            value={rule.workspaces?.[0]}
            onChoose={(name) => set({ rule: name === '' ? everywhere : { ...rule, workspaces: [name] } })}
            options={[['', t('filter.all')], ...workspaces.map(({ name }) => [name, name] as const)]}
          />
        )}
        <Choice
          label={t('lists.list')}
          value={object}
          onChoose={(next) => start({ object: next, verb: 'updated' })}
          options={objects.map((one) => [one, word('object', one)])}
        />
        <Choice
          label={t('filter.type')}
          value={verb}
          onChoose={(next) => start({ object, verb: next })}
          options={verbs.map((one) => [one, one === 'any' ? t('rules.any') : word('verb', one)])}
        />
      </div>
      {rule.unchanged !== undefined && (
        <UnchangedFields
          key={object}
          {...{ rule, fields: fields.names, lists: lists.map(({ name }) => name) }}
          setRule={(next) => set({ rule: next })}
        />
      )}
      {conditions.length > 1 && (
        <Choice
          label={t('rules.joined')}
          value={isAny ? 'anyOf' : 'allOf'}
          onChoose={(next) => set({ isAny: next === 'anyOf' })}
          options={(['allOf', 'anyOf'] as const).map((one) => [one, t(`rules.${one}`)])}
        />
      )}
      {conditions.map((pair, at) => (
        <ConditionFields
          key={at}
          {...{ nth: at + 1, pair, rule, verb, fields }}
          set={(next) => set({ conditions: conditions.with(at, next) })}
          remove={() => set({ conditions: conditions.toSpliced(at, 1) })}
        />
      ))}
      {conditions.length + [people, teams].filter((names) => names.length > 0).length < MOST_CONDITIONS && (
        <p class="actions">
          <button type="button" onClick={() => set({ conditions: [...conditions, more] })}>
            {t('rules.addCondition')}
          </button>
        </p>
      )}
      {fields.names.includes(drafts.PEOPLE) && (
        <Owners
          label={t('rules.people')}
          values={people}
          set={(next) => set({ people: next })}
          valuesAt={fields.valuesAt(drafts.PEOPLE)}
        />
      )}
      {fields.names.includes(drafts.TEAMS) && (
        <Owners
          label={t('rules.teams')}
          values={teams}
          set={(next) => set({ teams: next })}
          valuesAt={fields.valuesAt(drafts.TEAMS)}
        />
      )}
      <ByWhom draft={draft} setRule={(next) => set({ rule: next })} />
    </fieldset>
  );
}

function ByWhom({ draft, setRule }: { draft: Draft; setRule: (rule: RuleData) => void }) {
  const { t } = usePreferences();
  const { rule } = draft;
  const { verb } = drafts.eventOf(rule);
  const { from: _from, ...byAnyone } = rule;
  const { class: _class, ...byCounters } = rule;
  return (
    <>
      {!['overdue', 'due_soon', 'unchanged'].includes(verb) && (
        <Check
          label={t('rules.byPerson')}
          isOn={rule.from !== undefined}
          set={(isOn) => setRule(isOn ? { ...rule, from: ['user'] } : byAnyone)}
        />
      )}
      {drafts.matchesCounters(draft) && (
        <Check
          label={t('rules.counters')}
          isOn={rule.class === undefined}
          set={(isOn) => setRule(isOn ? byCounters : { ...rule, class: 'edited' })}
        />
      )}
    </>
  );
}

const USUAL_TEMPLATE = '{{title}} – {{object}} {{verb}}\n{{changes}}\n{{link}}';

interface TextProps {
  rule: RuleData;
  set: (part: Partial<RuleData>) => void;
  names: readonly string[];
}

function Text({ rule: { template }, set, names }: TextProps) {
  const { t } = usePreferences();
  const add = (field: string): void => set({ template: `${template ?? ''}{{record.${field}}}` });
  return (
    <fieldset class="card">
      <legend>{t('rules.text')}</legend>
      {template === undefined ? (
        <p>
          {t('rules.usual')}{' '}
          <button type="button" onClick={() => set({ template: USUAL_TEMPLATE })}>
            {t('rules.own')}
          </button>
        </p>
      ) : (
        <>
          <label>
            {t('rules.template')}
            <textarea
              rows={5}
              maxLength={4_000}
              value={template}
              onInput={({ currentTarget }) => set({ template: currentTarget.value || undefined })}
            />
          </label>
          <Choice
            label={t('rules.insert')}
            value=""
            onChoose={add}
            options={['', ...names].map((one) => [one, one === '' ? t('rules.choose') : one])}
          />
        </>
      )}
    </fieldset>
  );
}
