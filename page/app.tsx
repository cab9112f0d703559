/** The frame of the page: who is signed in, the sections, language and appearance. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { act, pathOf, signIn, signOut, whenSignedOut, type Caller, type SectionProps, type Status } from './api.js';
import { useFocusOn, usePlace, usePolled, useRestart, type Polled } from './hooks.js';
import type { Language } from './formats.js';
import { NamesProvider } from './names.js';
import { THEMES, usePreferences, type Theme } from './preferences.js';
import { dropKept } from './rules/kept.js';
import { SignIn } from './sign-in.js';
import { Changes } from './views/changes.js';
import { DeadLetters } from './views/dead-letters.js';
import { Lists } from './views/lists.js';
import { Problems } from './views/problems.js';
import { Audit } from './views/audit.js';
import { Overview } from './views/overview.js';
import { Records } from './views/records.js';
import { Rules } from './views/rules.js';
import { Schema } from './views/schema.js';
import { Subscriptions } from './views/subscriptions.js';
import { Todos } from './views/todos.js';

const SECTIONS = [
  'overview',
  'changes',
  'records',
  'lists',
  'subscriptions',
  'rules',
  'dead',
  'todos',
  'schema',
  'audit',
  'problems',
] as const;
type Section = (typeof SECTIONS)[number];
const VIEWS: Readonly<Record<Section, (props: SectionProps) => JSX.Element>> = {
  overview: Overview,
  changes: Changes,
  records: Records,
  lists: Lists,
  subscriptions: Subscriptions,
  audit: Audit,
  rules: Rules,
  dead: DeadLetters,
  todos: Todos,
  schema: Schema,
  problems: Problems,
};
/** What a caller of one workspace may ask. */
const OF_WORKSPACE: readonly Section[] = ['overview', 'changes', 'records', 'lists', 'todos', 'schema', 'problems'];
const STATUS_MS = 3_000;

/** The link that `changefeed start` prints. */
const TOKEN = /^#t=([\w-]+)$/;

/** The token must not stay in the address, which people copy and browsers remember. */
async function signInByLink(): Promise<void> {
  const [, token] = TOKEN.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(null, '', '#/overview');
  await signIn(token).catch(() => undefined);
}

export function App() {
  const { t } = usePreferences();
  const [caller, setCaller] = useState<Caller | null | 'asking' | 'ended'>('asking');
  const read = (): void => {
    act('readSession', {})
      .then((answer) => setCaller(answer.caller))
      .catch(() => setTimeout(read, 2_000));
  };
  useEffect(() => {
    // A wrong token is no session that has ended.
    whenSignedOut(() => setCaller((before) => (before === null || before === 'asking' ? null : 'ended')));
    void signInByLink().then(read);
  }, []);
  if (caller === 'asking') return <p class="quiet centred">{t('loading')}</p>;
  if (caller === null || caller === 'ended') return <SignIn hasEnded={caller === 'ended'} onSignedIn={read} />;
  return <Frame caller={caller} />;
}

function Frame({ caller }: { caller: Caller }) {
  const { t, number } = usePreferences();
  const { section } = usePlace();
  const { value: about } = usePolled(pathOf('readAbout', {}), 60_000);
  const status = usePolled(pathOf('readStatus', {}), STATUS_MS);
  const heading = useFocusOn(section);
  const isRestarting = useRestart();
  const sections = caller.workspace === undefined ? SECTIONS : OF_WORKSPACE;
  const shown = sections.find((one) => one === section) ?? 'overview';
  const View = VIEWS[shown];
  useEffect(() => {
    document.title = `${t(`nav.${shown}`)} · Changefeed`;
  });
  const skip = (event: Event): void => {
    event.preventDefault();
    heading.current?.focus();
  };
  const badges: Partial<Record<Section, number>> = {
    dead: status.value?.subscriptions.reduce((sum, one) => sum + one.dead, 0) ?? 0,
    problems: status.value?.problems.length ?? 0,
  };
  return (
    <div class="frame">
      <a class="skip" href="#content" onClick={skip}>
        {t('skip')}
      </a>
      <header class="top">
        <a class="brand" href="#/overview">
          <img src="./assets/icon.svg" alt="" width="24" height="24" />
          Changefeed
        </a>
        <Health {...status} />
        <Choices caller={caller} />
      </header>
      <nav class="sections" aria-label={t('nav.label')}>
        <ul>
          {sections.map((one) => (
            <li key={one}>
              <a href={`#/${one}`} aria-current={one === shown ? 'page' : undefined}>
                {t(`nav.${one}`)}
                {(badges[one] ?? 0) > 0 && (
                  <span class={`badge ${one === 'problems' ? 'bad' : ''}`}>{number(badges[one] ?? 0)}</span>
                )}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" tabIndex={-1} ref={(element) => void (heading.current = element)}>
        {isRestarting && (
          <p class="notice" role="status">
            {t('restarting')}
          </p>
        )}
        {status.error !== null && (
          <p class="notice bad" role="status">
            {t(status.redisAway ? 'redis.away' : 'failed')}
          </p>
        )}
        {about === null ? (
          <p class="quiet">{t('loading')}</p>
        ) : (
          <NamesProvider status={status.value} canAct={caller.role === 'operate'}>
            <View
              about={about}
              status={status.value}
              again={status.again}
              canAct={caller.role === 'operate'}
              isCustomer={caller.workspace !== undefined}
            />
          </NamesProvider>
        )}
      </main>
    </div>
  );
}

function Health({ value: status, error, redisAway }: Polled<Status>) {
  const { t } = usePreferences();
  // What was well may not be well any more.
  if (error !== null) return <span class="health bad">{t(redisAway ? 'redis.away.short' : 'failed.short')}</span>;
  if (status === null) return <span class="health quiet">{t('loading')}</span>;
  const { problems } = status;
  if (problems.length === 0) return <span class="health good">{t('all.well')}</span>;
  const worst = problems.some(({ severity }) => severity === 'error') ? 'bad' : 'warn';
  return (
    <a class={`health ${worst}`} href="#/problems">
      {t('problems.many', { count: problems.length })}
    </a>
  );
}

function Choices({ caller }: { caller: Caller }) {
  const { t, language, setLanguage, theme, setTheme } = usePreferences();
  const leave = (): void =>
    void signOut().then(() => {
      dropKept();
      location.reload();
    });
  return (
    <div class="choices">
      <select
        aria-label={t('language')}
        value={language}
        onChange={(event) => setLanguage(event.currentTarget.value as Language)}
      >
        <option value="en" lang="en">
          English
        </option>
        <option value="ko" lang="ko">
          한국어
        </option>
      </select>
      <select aria-label={t('theme')} value={theme} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
        {THEMES.map((one) => (
          <option key={one} value={one}>
            {t(`theme.${one}`)}
          </option>
        ))}
      </select>
      <span class="who">
        {caller.name ?? t(`role.${caller.role}`)}
        {caller.how === 'session' && (
          <button type="button" class="plain" onClick={leave}>
            {t('sign.out')}
          </button>
        )}
      </span>
    </div>
  );
}
