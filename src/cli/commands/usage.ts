/** What each workspace used, by day. Days without anything are left out. */
import { readUsage } from '../../actions/usage.js';
import { commandOf } from '../action-command.js';
import { table } from '../text.js';

const WHAT = ['requests', 'records', 'events', 'deliveries', 'bytes'] as const;

export const usage = commandOf(readUsage, {
  text({ workspaces }, { words: { t, number }, io }) {
    const { bold } = io.colours.out;
    const heads = t('usage.head').split('|');
    const cells = (of: string, day: Readonly<Record<(typeof WHAT)[number], number>>): string[] => [
      of,
      ...WHAT.map((what) => number(day[what])),
    ];
    const texts = workspaces.map(({ workspace, timeZone, total, days }) => {
      const used = days.filter((day) => WHAT.some((what) => day[what] > 0)).reverse();
      const head = `${bold(t('status.workspace', { name: workspace }))}  ${timeZone}`;
      if (used.length === 0) return `${head}  ${t('usage.none')}`;
      const rows = [cells(t('usage.total'), total), ...used.map((day) => cells(day.date, day))];
      return `${head}\n${table(heads, rows, io.colours.out, io.columns)}`;
    });
    return texts.join('\n\n');
  },
});
