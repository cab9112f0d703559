import { defineConfig, exec } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [
    exec({
      name: 'script',
      on: ['crm.person.created', 'crm.person.updated'],
      command: 'node',
      args: ['examples/exec-program.mjs'],
      timeout: '1m',
    }),
  ],
});
