// Adds a job to your own BullMQ queue for each event.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… JOBS_REDIS_URL=redis://127.0.0.1:6379 npx changefeed start --config examples/bullmq.config.ts
import { bullmq, defineConfig } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [bullmq({ name: 'jobs', queue: 'crm-events', redis: process.env['JOBS_REDIS_URL'] })],
});
