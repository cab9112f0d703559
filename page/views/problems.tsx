/** The section of problems: what needs a person, the last errors, and the processes. */
import type { ComponentChildren } from 'preact';
import type { About, Problem, SectionProps } from '../api.js';
import { HeldRecords, LeftBehind, MissingRules } from '../decisions.js';
import { placeOf, useNow } from '../hooks.js';
import { Named } from '../names.js';
import { Head, ProblemText } from '../parts.js';
import { usePreferences } from '../preferences.js';

export function Problems({ about, status, canAct, again }: SectionProps) {
  const { t, word, dateTime, duration } = usePreferences();
  const now = useNow(5_000);
  if (status === null) return <p class="quiet">{t('loading')}</p>;
  const failures = status.workspaces.flatMap(({ name, lists }) =>
    lists.flatMap(({ list, failure }) => (failure === null ? [] : [{ name, list, failure }])),
  );
  return (
    <>
      <Head title={t('problems.title')}>{t('problems.intro')}</Head>
      {status.problems.length === 0 ? (
        <p class="empty">{t('problems.none')}</p>
      ) : (
        <ul class="letters">
          {status.problems.map((problem) => (
            <One key={`${problem.kind} ${problem.workspace ?? ''} ${problem.subject}`} problem={problem}>
              {problem.kind.endsWith('.held') && (
                <HeldRecords
                  kind={problem.kind}
                  workspace={problem.workspace ?? ''}
                  list={problem.subject.slice('list:'.length)}
                  object={objectOf(about, problem)}
                  subscriptions={status.subscriptions}
                  canAct={canAct}
                  again={again}
                />
              )}
              {problem.kind === 'subscription.unconfigured' && (
                <LeftBehind names={status.unconfigured.map((one) => one.subscription)} canAct={canAct} again={again} />
              )}
              {problem.kind === 'rules.missing' && canAct && <MissingRules again={again} />}
            </One>
          ))}
        </ul>
      )}
      <section class="card">
        <h2>{t('problems.failures')}</h2>
        {failures.length === 0 && <p class="quiet">{t('problems.noFailures')}</p>}
        <ul class="plain-list">
          {failures.map(({ name, list, failure }) => (
            <li key={`${name} ${list}`}>
              <strong>{word('list', list)}</strong> <time dateTime={failure.at}>{dateTime(failure.at)}</time>{' '}
              <ProblemText
                kind="sweep.failed"
                message={failure.message}
                facts={{ workspace: name, list, code: failure.code, why: `failure.${failure.code}` }}
              />
            </li>
          ))}
        </ul>
      </section>
      <section class="card">
        <h2>{t('problems.processes')}</h2>
        <ul class="plain-list">
          {status.processes.map(({ id, pid, host, startedAt, roles }) => (
            <li key={id}>
              {t('problems.process', { pid, host, time: duration(now - Date.parse(startedAt)) })}{' '}
              <span class="quiet">{roles.map((role) => word('part', role)).join(', ')}</span>
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

function objectOf({ workspaces }: About, { workspace, subject }: Problem): string {
  const { lists = [] } = workspaces.find(({ name }) => name === workspace) ?? {};
  return lists.find(({ name }) => subject === `list:${name}`)?.object ?? '';
}

interface OneProps {
  problem: Problem;
  /** The decisions that a person can make about it. */
  children?: ComponentChildren;
}

function One({ problem: { severity, message, facts, since, kind, subject, workspace }, children }: OneProps) {
  const { t, word, dateTime } = usePreferences();
  // A kind without words is an error of the compiler.
  const title = t(`problem.${kind}`);
  const [what = '', name = ''] = subject.split(/:(.*)/s);
  const named = what === 'list' ? word('list', name) : what === 'role' ? word('part', name) : name || (workspace ?? '');
  return (
    <li class="card letter" data-kind={kind}>
      <p class="what">
        <span class={`mark ${severity === 'error' ? 'bad' : 'warn'}`}>{t(`severity.${severity}`)}</span>
        <strong>{title}</strong>
        {what === 'subscription' ? (
          <a
            href={
              kind === 'delivery.dead' ? placeOf('dead', { subscription: name }) : placeOf('subscriptions', { name })
            }
          >
            <Named name={name} />
          </a>
        ) : (
          <span class="about">{named}</span>
        )}
        {since !== null && <time dateTime={since}>{t('problems.since', { when: dateTime(since) })}</time>}
      </p>
      <ProblemText kind={kind} message={message} facts={facts} />
      {children}
    </li>
  );
}
