// Keeps a copy of people and todos in PostgreSQL. Needs: npm install pg
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… DATABASE_URL=postgres://… npx changefeed start --config examples/postgres.config.ts
import { defineConfig, postgres } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [
    postgres({
      name: 'mirror',
      url: process.env['DATABASE_URL'] ?? '',
      start: 'snapshot',
      columns: {
        people: { 이름: 'text', 이메일: 'text', owner: { field: '담당자.name', type: 'text' } },
        todo: { 내용: 'text', 완료: 'boolean', due: { field: '마지막 날짜', type: 'timestamptz' } },
      },
    }),
  ],
});
