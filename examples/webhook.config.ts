// Posts each event, signed, to a URL. receiver.mjs and receiver.py are receivers.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… HOOK_SECRET=whsec_… npx changefeed start --config examples/webhook.config.ts
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
