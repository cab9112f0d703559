// Posts a chat message when a person is new or edited.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… CHAT_URL=https://hooks.example/… npx changefeed start --config examples/message.config.ts
import { defineConfig, message } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [
    message({
      name: 'sales-chat',
      url: process.env['CHAT_URL'] ?? '',
      on: ['crm.person.created', 'crm.person.updated'],
      class: 'edited',
      template: '*{{title}}* ({{record.담당자 | unassigned}}): {{verb}}\n{{changes}}',
    }),
  ],
});
