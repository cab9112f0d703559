import { defineConfig, webhook } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [
    webhook({
      name: 'ops',
      url: 'https://ops.example/hooks',
      secret: process.env['HOOK_SECRET'] ?? '',
      on: ['crm.person.*', 'crm.todo.updated'],
      rate: { requests: 20 },
    }),
  ],
});
