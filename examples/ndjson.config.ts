// Appends each event to a file, as a line of JSON.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… npx changefeed start --config examples/ndjson.config.ts
import { defineConfig, ndjson } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [ndjson({ name: 'archive', path: 'events.ndjson' })],
});
