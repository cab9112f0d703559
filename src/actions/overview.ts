/** What changed, in numbers. */
import { z } from 'zod';
import { overview, type Overview } from '../log/overview.js';
import { defineAction } from './define.js';
import { workspace } from './fields.js';
import type { Row, Sheet } from './sheet.js';

export const readOverview = defineAction({
  name: 'overview',
  id: 'readOverview',
  on: 'events',
  ofWorkspace: true,
  route: 'GET /api/overview',
  about: [
    'How many edits there were, by day and kind, person in charge, and field, beside as many days before. They are counted when they are logged.',
    '날짜·종류별, 담당자별, 필드별 수정 건수와 그 전 같은 기간의 건수. 기록할 때 함께 셉니다.',
  ],
  input: z.strictObject({
    workspace,
    days: z.coerce.number().int().min(1).max(366).default(7).describe('so many days, today included (default: 7)'),
  }),
  answer: overview,
  run: (call, { feed }) => feed.overview(call),
  sheet: async (call, { feed }) => overviewSheet(await feed.overview(call)),
});

function overviewSheet({ workspaces }: Overview): Sheet {
  const rows = workspaces.flatMap(({ workspace: name, days }) =>
    days.flatMap(({ date, types }) =>
      Object.entries(types).map(([type, count]): Row => ({ date, type, count, workspace: name })),
    ),
  );
  return { columns: ['date', 'type', 'count', 'workspace'], rows };
}
