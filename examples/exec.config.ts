// Runs a program for each new or changed person.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… npx changefeed start --config examples/exec.config.ts
// What the program prints is in the log with LOG_LEVEL=debug.
import { fileURLToPath } from 'node:url';
import { defineConfig, exec } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [
    exec({
      name: 'script',
      on: ['crm.person.created', 'crm.person.updated'],
      command: 'node',
      args: [fileURLToPath(new URL('exec-program.mjs', import.meta.url))],
      timeout: '1m',
    }),
  ],
});
