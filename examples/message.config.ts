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
