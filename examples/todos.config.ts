import { defineConfig, message } from 'crm-changefeed';

export default defineConfig({
  workspaces: [
    {
      name: 'acme',
      baseUrl: process.env['CRM_URL'] ?? '',
      token: process.env['CRM_TOKEN'] ?? '',
      timeZone: 'Asia/Seoul',
      todos: { dueSoon: '4h' },
    },
  ],
  subscriptions: [
    message({
      name: 'todo-chat',
      url: process.env['CHAT_URL'] ?? '',
      on: ['crm.todo.completed', 'crm.todo.overdue', 'crm.todo.due_soon'],
      template: '*{{title}}* ({{record.담당자 | unassigned}}): {{verb}}',
    }),
  ],
});
