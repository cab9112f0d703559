/** How often a rule sends: at once, at most so many a minute, or in digests. */
import { useState } from 'preact/hooks';
import { Choice, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import type { RuleData } from './draft.js';
import { readValue } from './values.js';

const EVERY = { '5m': 300_000, '10m': 600_000, '30m': 1_800_000, '1h': 3_600_000, '4h': 14_400_000, '12h': 43_200_000 };
const USUAL = {
  once: {},
  most: { mostPerMinute: 20 },
  every: { digest: { every: '1h' } },
  at: { digest: { at: '09:00' } },
};

interface HowOftenProps {
  rule: RuleData;
  /** Whoever is written to gets a digest, unless the rule says otherwise. */
  isMail: boolean;
  setRule: (rule: RuleData) => void;
}

export function HowOften({ rule, isMail, setRule }: HowOftenProps) {
  const { t, duration } = usePreferences();
  const { digest, mostPerMinute, ...others } = rule;
  const { every, at, days = 'daily' } = digest || {};
  const often = every !== undefined ? 'every' : at !== undefined ? 'at' : mostPerMinute !== undefined ? 'most' : 'once';
  const [most, setMost] = useState(String(mostPerMinute || ''));
  const send = (next: string): void => {
    setMost(String(USUAL.most.mostPerMinute));
    const usual = USUAL[next as keyof typeof USUAL];
    setRule({ ...others, ...(isMail && { digest: false }), ...usual });
  };
  const limit = (text: string): void => {
    setMost(text);
    const count = readValue(text, 'most', { kind: 'number', timeZone: 'UTC' });
    const isOne = Number.isInteger(count) && Number(count) >= 1 && Number(count) <= 1_000;
    setRule({ ...others, mostPerMinute: isOne ? Number(count) : 0 });
  };
  const intervals = Object.entries({ ...(every !== undefined && { [every]: 0 }), ...EVERY });
  return (
    <fieldset class="card">
      <legend>{t('rules.often')}</legend>
      <div class="fields">
        <Choice
          label={t('rules.send')}
          value={often}
          onChoose={send}
          options={(['once', 'most', 'every', 'at'] as const)
            .filter((one) => one !== 'most' || !isMail)
            .map((one) => [one, t(`rules.often.${one}`)])}
        />
        {often === 'most' && <TextField label={t('rules.most')} value={most} type="text" onText={limit} />}
        {often === 'every' && (
          <Choice
            label={t('rules.every')}
            value={every}
            onChoose={(next) => setRule({ ...others, digest: { every: next } })}
            options={intervals.map(([one, ms]) => [one, ms === 0 ? one : duration(ms)])}
          />
        )}
        {often === 'at' && (
          <>
            <label>
              {t('rules.at')}
              <input
                type="time"
                required
                value={at}
                onInput={({ currentTarget }) => setRule({ ...others, digest: { at: currentTarget.value, days } })}
              />
            </label>
            <Choice
              label={t('rules.days')}
              value={days}
              onChoose={(next) => setRule({ ...others, digest: { at: at ?? '', days: next as 'daily' } })}
              options={(['daily', 'mon-fri'] as const).map((one) => [one, t(`rules.days.${one}`)])}
            />
          </>
        )}
      </div>
      {mostPerMinute === 0 && (
        <p class="bad-text" role="alert">
          {t('rules.fault.most')}
        </p>
      )}
    </fieldset>
  );
}
