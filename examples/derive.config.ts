// Makes events of your own from events, and handles them.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… npx changefeed start --config examples/derive.config.ts
import { defineConfig, defineDerive, defineHandler } from 'crm-changefeed';

const promotions = defineDerive({
  name: 'promotions',
  emits: ['acme.person.promoted'],
  on: ['crm.person.updated'],
  fields: ['포지션'],
  derive({ data }) {
    const from = data.before?.['포지션'];
    const to = data.after['포지션'];
    return to === '팀장' ? { type: 'acme.person.promoted', data: { from, to } } : null;
  },
});

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  derive: [promotions],
  subscriptions: [
    defineHandler({
      name: 'congratulate',
      on: ['acme.person.promoted'],
      handle(event, { log }) {
        log.info({ person: event.subject, ...event.data.derived }, 'promoted');
      },
    }),
  ],
});
