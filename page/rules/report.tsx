/** The part of the form for a rule that sends a report in place of events. */
import { Choice } from '../parts.js';
import { usePreferences } from '../preferences.js';
import type { RuleData } from './draft.js';

type Report = NonNullable<RuleData['report']>;

export function ReportFields({ report, set }: { report: Report; set: (report: Report) => void }) {
  const { t } = usePreferences();
  const { what, at, days = 'mon-fri', per = 'person' } = report;
  return (
    <fieldset class="card">
      <legend>{t('rules.report')}</legend>
      <p class="quiet">{t(`rules.reportWhat.${what}`)}</p>
      <div class="fields">
        <Choice
          label={t('rules.reportAbout')}
          value={what}
          onChoose={(next) => set({ ...report, what: next as 'todos' })}
          options={(['todos', 'changes'] as const).map((one) => [one, t(`rules.report.${one}`)])}
        />
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
          value={String(days)}
          onChoose={(next) => set({ ...report, days: next === 'mon' ? ['mon'] : (next as 'daily') })}
          options={(['daily', 'mon-fri', 'mon'] as const).map((one) => [one, t(`rules.days.${one}`)])}
        />
        {what === 'todos' && (
          <Choice
            label={t('rules.reportPer')}
            value={per}
            onChoose={(next) => set({ ...report, per: next as 'person' })}
            options={(['person', 'team'] as const).map((one) => [one, t(`todos.${one}`)])}
          />
        )}
      </div>
    </fieldset>
  );
}
