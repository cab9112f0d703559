// Posts a chat message when a todo is completed, overdue or due soon.
// Run it: CRM_URL=https://salesmap.kr/api CRM_TOKEN=… CHAT_URL=https://hooks.example/… npx changefeed start --config examples/todos.config.ts
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
