/** People who may sign in with a link of their own: who they are, another one, and the end of one. For operators. */
import { useState } from 'preact/hooks';
import { Action } from './action.js';
import { act, pathOf, type Answered } from './api.js';
import { usePolled } from './hooks.js';
import { Choice, Columns, TextField } from './parts.js';
import { usePreferences } from './preferences.js';

const ROLES = ['read', 'operate'] as const;
const DAYS = ['7', '30', '90', '365'] as const;

export function Invites() {
  const { t, dateTime } = usePreferences();
  const { value, again } = usePolled(pathOf('listInvites', {}), 30_000);
  const all = value?.invites ?? [];
  return (
    <section aria-labelledby="invites" class="card wide">
      <h2 id="invites">{t('invites.title')}</h2>
      <p class="quiet">{t('invites.intro')}</p>
      {value !== null && all.length === 0 && <p class="empty">{t('invites.none')}</p>}
      {all.length > 0 && (
        <table class="cards-when-narrow">
          <Columns names={[[t('invites.name')], [t('invites.role')], [t('invites.until')], ['']]} />
          <tbody>
            {all.map(({ name, role, until }) => (
              <tr key={name}>
                <th scope="row" class="wrap">
                  {name}
                </th>
                <td data-label={t('invites.role')}>{t(`role.${role}`)}</td>
                <td data-label={t('invites.until')}>
                  {dateTime(until)}{' '}
                  {Date.parse(until) < new Date().getTime() && <span class="mark bad">{t('invites.over')}</span>}
                </td>
                <td class="right">
                  <Action
                    label={t('invites.revoke')}
                    name={t('invites.revokeOf', { name })}
                    danger
                    run={async () => {
                      await act('revokeInvite', { name });
                      again();
                      return null;
                    }}
                  >
                    <p>{t('invites.revokeAbout', { name })}</p>
                  </Action>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Invite after={again} />
    </section>
  );
}

function Invite({ after }: { after: () => void }) {
  const { t } = usePreferences();
  const [{ name, role, days }, set] = useState({ name: '', role: 'read', days: '90' });
  const run = async () => {
    const made = await act('invite', { name, role: role as 'read' | 'operate', expires: `${days}d` });
    set({ name: '', role, days });
    return <Made {...made} />;
  };
  return (
    <p class="actions">
      <Action label={t('invites.add')} main ready={name.trim() !== ''} run={run} after={after}>
        <TextField
          label={t('invites.name')}
          type="text"
          value={name}
          onText={(text) => set({ name: text, role, days })}
        />
        <Choice
          label={t('invites.role')}
          value={role}
          onChoose={(one) => set({ name, role: one, days })}
          options={ROLES.map((one) => [one, t(`role.${one}`)])}
        />
        <Choice
          label={t('invites.expires')}
          value={days}
          onChoose={(one) => set({ name, role, days: one })}
          options={DAYS.map((one) => [one, t('invites.days', { count: one })])}
        />
      </Action>
    </p>
  );
}

function Made({ name, until, token, link, reach }: Answered<'invite'>) {
  const { t, dateTime } = usePreferences();
  const [isCopied, setCopied] = useState(false);
  // The server knows its own address only; others open this one.
  const shown = reach === 'public' ? link : `${location.href.replace(/#.*$/, '')}#t=${token}`;
  return (
    <>
      <p>{t('invites.once', { name, until: dateTime(until) })}</p>
      <label>
        {t('invites.link')}
        <input type="text" readOnly value={shown} onFocus={(event) => event.currentTarget.select()} />
      </label>
      {reach === 'this machine' && <p class="notice warn">{t('invites.machine')}</p>}
      {'clipboard' in navigator && (
        <p class="actions">
          <button type="button" onClick={() => void navigator.clipboard.writeText(shown).then(() => setCopied(true))}>
            {t(isCopied ? 'invites.copied' : 'invites.copy')}
          </button>
        </p>
      )}
    </>
  );
}
