// Posts events, signed, to a URL. receiver.mjs and receiver.py are receivers: HOOK_URL=http://127.0.0.1:8080
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… HOOK_URL=https://ops.example/hooks HOOK_SECRET=whsec_… npx changefeed start --config examples/webhook.config.ts
import { defineConfig, webhook } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [
    webhook({
      name: 'ops',
      url: process.env['HOOK_URL'] ?? '',
      // For a receiver on this machine: private addresses are refused unless they are named.
      allowHosts: ['127.0.0.1'],
      secret: process.env['HOOK_SECRET'] ?? '',
      on: ['crm.person.*', 'crm.todo.updated'],
      rate: { requests: 20 },
    }),
  ],
});
