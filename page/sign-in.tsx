/** Asks for a token, which becomes a session. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, signIn } from './api.js';
import { usePreferences } from './preferences.js';

export function SignIn({ hasEnded, onSignedIn }: { hasEnded: boolean; onSignedIn: () => void }) {
  const { t } = usePreferences();
  const field = useRef<HTMLInputElement>(null);
  const [token, setToken] = useState('');
  const [error, setError] = useState<string | null>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = (event: Event): void => {
    event.preventDefault();
    signIn(token)
      .then(onSignedIn)
      .catch((reason: unknown) => setError(reason instanceof ApiError ? reason.message : t('failed')));
  };
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>
          <img src="./assets/icon.svg" alt="" width="28" height="28" /> Changefeed
        </h1>
        {hasEnded && (
          <p class="notice warn" role="status">
            {t('sign.ended')}
          </p>
        )}
        <label>
          {t('sign.token')}
          <input
            type="password"
            ref={field}
            autocomplete="current-password"
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
            aria-describedby="token-hint"
            required
          />
        </label>
        <p id="token-hint" class="quiet">
          {t('sign.hint')}
        </p>
        {error !== null && (
          <p class="notice bad" role="alert">
            {error}
          </p>
        )}
        <button type="submit" class="main">
          {t('sign.in')}
        </button>
      </form>
    </main>
  );
}
