/** `changefeed erase`, as a person uses it: what there is, the question, the answer, and that the record stays away. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildNotice } from '../../src/events/notices.js';
import { problemsOfPrinted } from '../support/cli-schema.js';
import { useCli } from '../support/cli.js';
import { testFolder } from '../support/folder.js';
import { appendEvents } from '../support/events.js';
import { startOtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

const redis = useRedis();
const cli = useCli();
const RULE = { id: 'named', enabled: false, on: ['crm.person.*'], to: 'chat', where: { 'after.이름': '사람 B' } };

it('erase: a record is erased by a command that asks first, says what is left, and is kept out while the CRM shows it', async () => {
  const crm = await startOtherCrm();
  const person = crm.lists.people[0]!;
  crm.lists.memo.push({ id: 'memo-about', text: '통화함', peopleId: person.id });
  const folder = await cli({
    'changefeed.config.json': {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token }],
      redis: { prefix: redis.keys.prefix },
      destinations: { chat: { handler: 'message', url: 'https://chat.example/hook' } },
      rules: 'rules.json',
      subscriptions: [{ handler: 'ndjson', name: 'out', path: join(testFolder(), 'out.ndjson') }],
    },
  });
  const run = (...args: string[]) => folder.call(args, { REDIS_URL: redis.url });
  const edit = async (이름: string): Promise<void> => {
    crm.lists.people[0] = { ...person, 이름 };
    expect((await run('sweep', 'people', 'memo', '--timeout', '60s')).code).toBe(0);
  };
  await edit('사람 A');
  await edit('사람 B');
  writeFileSync(join(folder.cwd, 'rules.json'), JSON.stringify({ rules: [RULE] }));
  const notice = {
    workspace: 'acme',
    kind: 'subscription.disabled',
    subject: 'subscription:out',
    severity: 'error',
  } as const;
  const at = new Date().toISOString();
  await appendEvents(redis, [
    buildNotice({ ...notice, list: null, since: at, at, sequence: 1, message: 'It was for 사람 B.' }),
  ]);
  expect((await run('pause', 'out', '--reason', '사람 B asked for it')).code).toBe(0);
  const found = await run('erase', 'people', person.id, '--dry-run');
  expect(found).toMatchObject({ code: 0 });
  expect(found.stdout).toBe(
    [
      'It is stored; 1 event of it in the log. Nothing was changed.',
      'Also named by the log changefeed.subscription.disabled subscription:out: until retention drops the notice.',
      'Also named by the rule named: correct the rule.',
      'Also named by the subscription out: in the reason of its pause or its last error, until it is resumed.',
      '1 other record that contains its id, name, e-mail address or phone number, not erased:',
      '  memo memo-about',
      'May have been delivered by: out (ndjson).\n',
    ].join('\n'),
  );
  expect(await run('erase', 'people', person.id)).toMatchObject({ code: 2, stdout: '' });
  const erased = await run('erase', 'people', person.id, '--yes', '--json');
  expect(problemsOfPrinted('erase', JSON.parse(erased.stdout))).toEqual([]);
  expect(JSON.parse(erased.stdout)).toMatchObject({
    ...{ stored: true, events: 1, tables: [], related: [{ list: 'memo', id: 'memo-about' }] },
    outOfReach: [{ subscription: 'out', handler: 'ndjson', address: null }],
  });
  await edit('사람 C');
  const gone = await run('explain', 'people', person.id);
  expect(gone).toMatchObject({ code: 1, stdout: `people ${person.id}: this record was erased, and is left out.\n` });
  const again = await run('erase', 'people', person.id, '--yes');
  expect(again.stdout).toContain('Erased: no stored record, 0 events in the log, ');
  expect((await run('erase', 'nowhere', 'x', '--yes')).code).toBe(2);
});
