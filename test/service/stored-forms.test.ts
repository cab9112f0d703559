/**
 * Another version must not misread what is stored. This writes one of each thing that is, and compares its forms with those of `stored-forms.txt`:
 * after a change, raise FORMAT in `src/log/state-guard.ts`, then update the file with `-u`.
 */
import { expect, it } from 'vitest';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { PermanentError } from '../../src/delivery/handlers/errors.js';
import { eventually } from '../support/eventually.js';
import { createNoticeStore } from '../../src/log/notices.js';
import { openFeed } from '../support/feed.js';
import { startOtherCrm } from '../support/other-crm.js';
import { dumpOf } from '../support/dump.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();

it('stored forms: what is written to Redis has the forms of its format number', async () => {
  const crm = await startOtherCrm();
  const lists = { people: { removals: { after: '0s' } }, todo: { removals: { after: '0s' } } };
  const off = Object.fromEntries(['organization', 'memo', 'history', 'activity'].map((list) => [list, false]));
  const all = { on: ['crm.*', 'changefeed.*'] as const };
  const refuse = (): never => {
    throw new PermanentError('refused');
  };
  // Problems are reported when they have lasted: one is raised below.
  const options = { reportsProblems: false };
  const config = {
    workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: { ...lists, ...off } }],
    subscriptions: [
      defineHandler({ ...all, name: 'receives', start: 'snapshot', handle: () => Promise.resolve() }),
      defineHandler({ ...all, name: 'refuses', handle: refuse }),
      defineHandler({ ...all, name: 'merges', settle: '1h', handle: () => Promise.resolve() }),
      defineHandler({ ...all, name: 'waits', digest: { at: '09:00' }, handleDigest: () => Promise.resolve() }),
      defineHandler({ ...all, name: 'rests', handle: () => Promise.resolve() }),
    ],
  };
  const feed = await openFeed(test, config, options);
  await feed.start(['dispatch', 'handle']);
  const sweepTwice = async (): Promise<void> => {
    for (let times = 0; times < 2; times += 1)
      for (const { outcome } of await feed.sweep()) expect(outcome).toBe('complete');
  };
  await sweepTwice();
  await feed.pause('rests', 'for lunch');
  const problem = { workspace: 'acme', kind: 'subscription.disabled', subject: 'subscription:rests' } as const;
  const said = { severity: 'warning', facts: { subscription: 'rests' }, since: null, list: null } as const;
  const notices = createNoticeStore(test.redis, test.keys);
  await notices.raise({ ...problem, ...said, at: new Date().toISOString() }, Date.now());
  crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: 'renamed' };
  crm.lists.todo[0] = { ...crm.lists.todo[0]!, 완료: crm.lists.todo[0]!['완료'] !== true };
  crm.lists.people.pop();
  await sweepTwice();
  await eventually(async () => expect(await feed.deadLetters.count({ subscription: 'refuses' })).toBeGreaterThan(0));
  await eventually(async () => {
    const { waiting = 0 } = (await feed.status()).subscriptions.find(({ name }) => name === 'receives') ?? {};
    expect(waiting).toBe(0);
  });
  await feed.verify('receives', []);
  await feed.stop();
  const dump = await dumpOf(test.redis, test.keys.prefix);
  const { format } = JSON.parse((await test.redis.get(test.keys.state('acme'))) ?? '') as { format: number };
  await expect(`format ${format}\n\n${formsIn(dump)}`).toMatchFileSnapshot('stored-forms.txt');
});

/** Jobs are stored by BullMQ, whose version the lock file names. What expires, and the configuration, is written again by any version. */
const LEFT_OUT = /:sub:\{(\w+)\}:\1:|:(configuration|budget|lease|process|processes|credits|credited|log-copy)\b/u;

function formsIn(dump: ReadonlyMap<string, string>): string {
  const forms = new Map<string, Set<string>>();
  for (const [key, value] of dump) {
    const name = key.slice(test.keys.prefix.length).replaceAll(/s?[\da-f]{8}[\da-f-]*|\d+/gu, '#');
    if (LEFT_OUT.test(name)) continue;
    const known = forms.get(name) ?? new Set<string>();
    for (const form of formsOf(JSON.parse(value))) known.add(form);
    forms.set(name, known);
  }
  const lines = [...forms].sort().map(([name, found]) => [name, ...[...found].sort().map((form) => `  ${form}`)]);
  return `${lines.flat().join('\n')}\n`;
}

/** Of a hash a form for each kind of field, of a list or stream one for each kind of entry. */
function formsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((one) => formOf(Array.isArray(one) ? (one[1] as unknown) : one));
  if (typeof value === 'string') return value.split('\n').map(ofText);
  if (typeof value !== 'object' || value === null) return [formOf(value)];
  return Object.entries(value).map(([field, held]) => `${nameOf(field)}: ${formOf(held)}`);
}

/** Ids are of no form, and the fields of records are the CRM's. */
function nameOf(name: string): string {
  return /^[a-z]+$/iu.test(name) ? name : name.replaceAll(/[^ \t:]*[^a-z \t:][^ \t:]*/giu, '#');
}

function formOf(held: unknown, depth = 0): string {
  if (typeof held === 'string') return ofText(held);
  if (typeof held !== 'object' || held === null) return held === null ? 'null' : typeof held;
  if (depth > 3) return '{…}';
  if (Array.isArray(held)) return `[${[...new Set(held.map((one) => formOf(one, depth + 1)))].sort().join(', ')}]`;
  const fields = Object.entries(held).map(([name, one]) => `${nameOf(name)}: ${formOf(one, depth + 1)}`);
  return `{${[...new Set(fields)].sort().join(', ')}}`;
}

function ofText(text: string): string {
  if (/^[[{]/u.test(text)) {
    try {
      return `JSON ${formOf(JSON.parse(text), 1)}`;
    } catch {
      // Not JSON.
    }
  }
  // Whatever is packed begins with its version.
  if (/[^\t\n -\u{10ffff}]|\ufffd/u.test(text)) return `bytes ${text.slice(0, 1)}`;
  return /^[\d-]+$/u.test(text) ? 'digits' : text.replaceAll(/[^\s|]+/gu, 'a');
}
