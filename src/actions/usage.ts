/** What the workspaces use, for who pays for them or watches their quota. */
import { z } from 'zod';
import { usage } from '../log/usage.js';
import { defineAction } from './define.js';
import { workspace } from './fields.js';

export const readUsage = defineAction({
  name: 'usage',
  id: 'readUsage',
  on: 'workspaces',
  route: 'GET /api/usage',
  about: [
    'What each workspace used, by day: requests, rows and bytes read from the CRM, events, deliveries. Kept for 400 days.',
    '워크스페이스가 날마다 쓴 양: 요청, CRM에서 읽은 행과 바이트, 이벤트, 전달. 400일 동안 보관합니다.',
  ],
  input: z.strictObject({
    workspace,
    days: z.coerce.number().int().min(1).max(400).default(30).describe('so many days, today included (default: 30)'),
  }),
  answer: usage,
  run: (call, { feed }) => feed.usage(call),
  async sheet(call, { feed }) {
    const { workspaces } = await feed.usage(call);
    const rows = workspaces.flatMap(({ workspace: name, days }) => days.map((day) => ({ ...day, workspace: name })));
    return { columns: ['date', 'requests', 'records', 'events', 'deliveries', 'bytes', 'workspace'], rows };
  },
});
