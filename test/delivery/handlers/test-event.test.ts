import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLists, readyMadeLists } from '../../../src/crm/lists/lists.js';
import { EVENT_TYPES, NOTICE_TYPES } from '../../../src/events/catalogue.js';
import { exampleEvent } from '../../../src/events/example.js';
import { useCli } from '../../support/cli.js';
import { problemsOf } from '../../support/event-schemas.js';
import { useReceivers } from '../../support/handler-fixtures.js';

const lists = createLists(readyMadeLists.all);
const options = { id: `evt_${'0'.repeat(32)}`, workspace: 'acme', at: '2026-03-02T04:10:00.000Z', lists };
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe('test event', () => {
  const cli = useCli();
  const startReceiver = useReceivers();

  it('test event: the example of every type is what its schema says', () => {
    for (const type of [...EVENT_TYPES, ...NOTICE_TYPES]) {
      const event = exampleEvent(type, options);
      expect(problemsOf(event)).toEqual([]);
      expect(event).toMatchObject({ type, subject: 'test' });
    }
  });

  it('test event: the command sends one of a real type to each kind of handler, and runs a function only on request', async () => {
    const receiver = await startReceiver();
    const folder = await cli({
      'changefeed.config.mjs': `
        import { defineHandler, message, ndjson, webhook } from 'crm-changefeed';
        const allowHosts = ['127.0.0.1'];
        export default {
          workspaces: [{ name: 'acme', baseUrl: 'http://127.0.0.1:1', token: 'token-5f0c1e9bd2a7' }],
          subscriptions: [
            webhook({ name: 'hook', url: '${receiver.url}/', secret: '${secret}', allowHosts, thin: true }),
            message({ name: 'chat', url: '${receiver.url}/', allowHosts, on: ['crm.todo.overdue'] }),
            ndjson({ name: 'file', path: import.meta.dirname + '/out.ndjson' }),
            defineHandler({ name: 'code', handle({ type }) { throw new Error('ran with ' + type); } }),
          ],
        };`,
    });
    const run = (...args: string[]) => folder.call(['webhook', 'test', ...args]);
    const hook = await run('hook', '--type', 'crm.todo.completed', '--json');
    expect(JSON.parse(hook.stdout)).toMatchObject({ outcome: 'accepted', status: 204, type: 'crm.todo.completed' });
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'crm.todo.completed',
      subject: 'test',
      data: { before: null, after: { id: 'test' }, changes: [{ field: '완료', before: false, after: true }] },
    });
    expect((await run('chat')).stdout).toMatch(/^accepted {2}chat: message, crm\.todo\.overdue, \d+ ms\n/);
    expect(receiver.received).toHaveLength(2);
    expect((await run('file', '--type', 'crm.person.updated')).code).toBe(0);
    const [line] = (await readFile(join(folder.cwd, 'out.ndjson'), 'utf8')).split('\n');
    expect(JSON.parse(line ?? '')).toMatchObject({ type: 'crm.person.updated', subject: 'test' });
    expect(await run('code')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as unknown });
    const code = await run('code', '--yes');
    expect(code).toMatchObject({ code: 1, stdout: expect.stringContaining('ran with crm.person.created') as unknown });
    expect(await run('hook', '--type', 'crm.todo.complete')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean "crm.todo.completed"?') as unknown,
    });
  });
});
