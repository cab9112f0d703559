/** The table of the feed's own events in docs/operations.md: the one place that says when each is reported, and what to do. */
import { readFileSync } from 'node:fs';

export interface NoticeRow {
  kind: string;
  severity: string;
  when: string;
  remedy: string;
}

export function noticeRows(): NoticeRow[] {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const table = page.split('| kind | severity | when | what to do |\n')[1]?.split('\n\n')[0] ?? '';
  return [...table.matchAll(/^\| `([a-z.]+)` \| ([\w ]+) \| (.+?) \| (.+?) \|$/gm)].map(
    ([, kind = '', severity = '', when = '', remedy = '']) => ({ kind, severity, when, remedy }),
  );
}
