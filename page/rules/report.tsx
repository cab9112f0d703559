/** The part of the form for a rule that sends a report in place of events. */
import { Choice } from '../parts.js';
import { usePreferences } from '../preferences.js';
import type { RuleData } from './draft.js';

type Report = NonNullable<RuleData['report']>;

export function ReportFields({ report, set }: { report: Report; set: (report: Report) => void }) {
  const { t } = usePreferences();
  const { at, days = 'mon-fri', per = 'person' } = report;
  return (
    <fieldset class="card">
      <legend>{t('rules.report')}</legend>
      <p class="quiet">{t('rules.reportWhat')}</p>
      <div class="fields">
        <label>
          {t('rules.at')}
          <input
            type="time"
            required
            value={at}
            onInput={({ currentTarget }) => set({ ...report, at: currentTarget.value })}
          />
        </label>
        <Choice
          label={t('rules.days')}
          value={days}
          onChoose={(next) => set({ ...report, days: next as 'daily' })}
          options={(['daily', 'mon-fri'] as const).map((one) => [one, t(`rules.days.${one}`)])}
        />
        <Choice
          label={t('rules.reportPer')}
          value={per}
          onChoose={(next) => set({ ...report, per: next as 'person' })}
          options={(['person', 'team'] as const).map((one) => [one, t(`todos.${one}`)])}
        />
      </div>
    </fieldset>
  );
}
