// Calls a function for each new person.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… npx changefeed start --config examples/greet.config.ts
import { defineConfig, defineHandler } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [
    defineHandler({
      name: 'greet',
      on: ['crm.person.created'],
      handle(event, { log }) {
        log.info({ person: event.subject, fields: Object.keys(event.data.after).length }, 'welcome');
      },
    }),
  ],
});
