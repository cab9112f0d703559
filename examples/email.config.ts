// Sends each person in charge one mail in the morning about their todos. Needs: npm install nodemailer
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… SMTP_URL=smtp://user:password@smtp.example:587 npx changefeed start --config examples/email.config.ts
import { defineConfig, email } from 'crm-changefeed';

export default defineConfig({
  workspaces: [{ name: 'acme', baseUrl: process.env['CRM_URL'] ?? '', token: process.env['CRM_TOKEN'] ?? '' }],
  people: { 김담당: { email: 'kim@acme.example' } },
  subscriptions: [
    email({
      name: 'morning-mail',
      server: process.env['SMTP_URL'] ?? '',
      sender: 'CRM <crm@acme.example>',
      to: 'person-in-charge',
      otherwise: 'sales@acme.example',
      on: ['crm.todo.completed', 'crm.todo.overdue'],
    }),
  ],
});
