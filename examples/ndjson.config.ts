import { defineConfig, ndjson } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [ndjson({ name: 'archive', path: 'events.ndjson', rotate: { size: '100MB', keep: 5 } })],
});
