import { bullmq, defineConfig } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  subscriptions: [bullmq({ name: 'jobs', queue: 'crm-events', redis: process.env['JOBS_REDIS_URL'] })],
});
