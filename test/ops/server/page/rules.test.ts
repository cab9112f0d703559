import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { personEvent, startPageFeed, TOKENS } from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { testFolder } from '../../../support/folder.js';
import { useReceivers } from '../../../support/handler-fixtures.js';
import { useRedis } from '../../../support/redis.js';

const READER = { authorization: `Bearer ${TOKENS.read}` };
const OPERATOR = { authorization: `Bearer ${TOKENS.operate}` };
const GRADE = { on: ['crm.person.updated'], where: { 등급: { becomes: 'A' } }, to: 'chat' };

const pageOf = (id: string): string => `https://feed.example/#/records?workspace=acme&list=people&id=${id}`;

describe('rules on the page', () => {
  const redis = useRedis();
  const startReceiver = useReceivers();
  const graded = (record: string, before: string, after: string) => {
    const event = personEvent(record, 1, {
      fields: { 이름: `가상인 ${record}` },
      changes: [{ field: '등급', before, after }],
    });
    const images = { before: { ...event.data.before!, 등급: before }, after: { ...event.data.after!, 등급: after } };
    return { ...event, data: { ...event.data, ...images } };
  };
  const open = async (rules?: object) => {
    const receiver = await startReceiver();
    const folder = testFolder();
    const file = join(folder, 'changefeed.rules.json');
    if (rules !== undefined) writeFileSync(file, JSON.stringify(rules));
    const destinations = {
      chat: { handler: 'message' as const, url: `${receiver.url}/hook/secret-part`, allowHosts: ['127.0.0.1'] },
    };
    const page = await startPageFeed(redis, {
      http: { tokens: TOKENS, publicUrl: 'https://feed.example' },
      destinations,
      rules: file,
    });
    const post = async (path: string, body: object, who = OPERATOR) => {
      const answer = await page.act(`/api/rules/${path}`, body, who);
      return { status: answer.status, ...((await answer.json()) as object) };
    };
    const state = () =>
      page.get<{ revision: string; problem: string | null; rules: { id: string }[] }>('/api/rules', READER);
    return { ...page, file, folder, receiver, post, state };
  };

  it('rules: a reader sees what one would have done, and why not a record; nothing is sent and no address shown', async () => {
    const { post, receiver, state } = await open();
    await appendEvents(redis, [graded('p1', 'B', 'A'), graded('p2', 'A', 'B'), graded('p3', 'C', 'A')]);
    const preview = (more: object = {}) =>
      post('preview', { rule: { id: 'new', ...GRADE, language: 'ko' }, ...more }, READER);
    expect(await preview()).toMatchObject({
      outcome: 'tried',
      read: 3,
      selected: 2,
      next: null,
      examples: [
        { title: '가상인 p3', text: `가상인 p3 – 고객 수정\n• 등급: C → A\n[열기](${pageOf('p3')})`, refusedBy: null },
        { title: '가상인 p1', text: `가상인 p1 – 고객 수정\n• 등급: B → A\n[열기](${pageOf('p1')})`, refusedBy: null },
      ],
    });
    expect(await preview({ search: 'p2' })).toMatchObject({
      examples: [{ title: '가상인 p2', refusedBy: { option: 'where', condition: '등급' } }],
    });
    const template = '{{title}}: {{after.등급}}';
    expect(await post('preview', { rule: { id: 'new', ...GRADE, template } }, READER)).toMatchObject({
      examples: [{ text: '가상인 p3: A' }, { text: '가상인 p1: A' }],
    });
    const everyMorning = { id: 'new', ...GRADE, digest: { at: '09:00' } };
    expect(await post('preview', { rule: everyMorning }, READER)).toMatchObject({
      digest: {
        at: expect.stringMatching(/T00:00:00.000Z$/) as unknown,
        text: expect.stringContaining('acme: 2 person updates') as unknown,
      },
    });
    expect(await post('preview', { rule: { id: 'new', ...GRADE, to: 'gone' } }, READER)).toMatchObject({
      outcome: 'refused',
      why: 'to of rule "new": there is no destination "gone"; allowed: chat.',
    });
    expect(JSON.stringify(await state())).not.toContain('secret-part');
    expect(receiver.received).toEqual([]);
  });

  it('rules: the preview of a digest is the digest: each match counted, the oldest first, with its link', async () => {
    const { post } = await open();
    const records = Array.from({ length: 13 }, (_, at) => `p${at + 1}`);
    await appendEvents(
      redis,
      records.map((record) => graded(record, 'B', 'A')),
    );
    const rule = { id: 'new', ...GRADE, digest: { every: '12h' } };
    const { digest } = (await post('preview', { rule }, READER)) as unknown as { digest: { text: string } };
    const lines = digest.text.split('\n');
    expect(lines.slice(0, -1)).toEqual([
      '13 changes in acme: 13 person updates',
      ...records
        .slice(0, 10)
        .map((record) => `• 가상인 ${record} – person updated · 등급: B → A · [Open](${pageOf(record)})`),
      '… and 3 more',
    ]);
    // With the moments of the first change and of the last one.
    expect(lines.at(-1)).toMatch(
      /^\[Open the status page\]\(https:\/\/feed\.example\/#\/changes\?workspace=acme&type=crm\.person\.updated&since=\d[^&]+Z&until=\d[^&]+Z&show=all\)$/,
    );
  });

  it('rules: an operator saves one, switches it off, and sees who did what; a reader may not', async () => {
    const { post, get, file, folder, state } = await open({ rules: [{ id: 'z', enabled: false, to: 'chat' }] });
    const { revision } = await state();
    expect((await post('a', { revision, rule: GRADE }, READER)).status).toBe(403);
    const saved = await post('a', { revision, rule: { title: '등급 A', ...GRADE } });
    expect(saved).toMatchObject({ outcome: 'saved' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      rules: [
        { id: 'z', enabled: false, to: 'chat' },
        { id: 'a', title: '등급 A', ...GRADE },
      ],
    });
    // It is whole, or the former one: nothing is left beside it.
    expect(readdirSync(folder)).toEqual(['changefeed.rules.json']);
    const again = { ...GRADE, enabled: false, mostPerMinute: 5 };
    expect(await post('a', { revision: (await state()).revision, rule: again })).toMatchObject({ outcome: 'saved' });
    expect(await get('/api/rules/a/history', READER)).toMatchObject({
      entries: [
        { by: 'operate', how: 'token', what: 'off', changed: ['title', 'mostPerMinute'] },
        { what: 'created', changed: [] },
      ],
    });
    expect(await post('a/remove', { revision: (await state()).revision })).toMatchObject({ outcome: 'saved' });
    expect((await state()).rules.map(({ id }) => id)).toEqual(['z']);
  });

  it('rules: of two who save, or where the file was edited meanwhile, the second is told and nothing is lost', async () => {
    const { post, file, state } = await open();
    const { revision } = await state();
    expect(await post('a', { revision, rule: GRADE })).toMatchObject({ outcome: 'saved' });
    const kept = readFileSync(file, 'utf8');
    expect(await post('b', { revision, rule: GRADE })).toEqual({ status: 200, outcome: 'changed' });
    expect(readFileSync(file, 'utf8')).toBe(kept);
    writeFileSync(file, kept.replace('"A"', '"A",'));
    const broken = await state();
    expect(broken.problem).toMatch(
      /changefeed\.rules\.json:\d+:\d+: it cannot be read as JSON: property name expected\.$/,
    );
    expect(await post('b', { revision: broken.revision, rule: GRADE })).toMatchObject({
      outcome: 'refused',
      why: expect.stringMatching(
        /^Nothing was saved, as the file is not valid: .*:\d+:\d+: it cannot be read as JSON/,
      ) as unknown,
    });
  });

  it('rules: one match is sent as a test; without a match, an example of a record', async () => {
    const { post, receiver, get } = await open();
    expect(await post('a/test', { rule: GRADE })).toMatchObject({ outcome: 'sent', matched: false });
    await appendEvents(redis, [graded('p1', 'B', 'A'), graded('p2', 'C', 'A')]);
    expect(await post('a/test', { rule: GRADE })).toMatchObject({
      ...{ outcome: 'sent', record: '가상인 p2', matched: true },
      sent: { outcome: 'accepted' },
    });
    expect(receiver.received.map(({ body }) => (JSON.parse(body) as { text: string }).text)).toEqual([
      expect.stringMatching(/^\[Test\] \*.+\* – person/),
      `[Test] *가상인 p2* – person updated\n• 등급: C → A\n<${pageOf('p2').replaceAll('&', '&amp;')}|Open>`,
    ]);
    expect(await get('/api/rules/a/history', READER)).toMatchObject({ entries: [{ what: 'test' }, { what: 'test' }] });
    expect((await post('a/test', { rule: GRADE }, READER)).status).toBe(403);
  });

  it('rules: values of stored records are suggested, and a field that no record has is named', async () => {
    const receiver = await startReceiver();
    const folder = testFolder();
    const file = join(folder, 'rules.json');
    const where = { 없는필드: { becomes: 'A' }, 'after.담당자.name': 'x' };
    writeFileSync(
      file,
      JSON.stringify({ rules: [{ id: 'a', on: ['crm.person.*'], to: 'ops', where, enabled: false }] }),
    );
    const destinations = {
      ops: { handler: 'message' as const, url: receiver.url, allowHosts: ['127.0.0.1'] },
    };
    const page = await startPageFeed(redis, { roles: ['poll'], destinations, rules: file });
    expect(await page.get('/api/rules')).toMatchObject({
      rules: [{ id: 'a', doubts: [{ why: 'missing', field: '없는필드' }] }],
    });
    const { values } = await page.get<{ values: string[] }>(
      '/api/rules/values?workspace=acme&list=people&field=담당자',
    );
    const names = page.crm.lists.people.map((one) => (one['담당자'] as { name: string } | null)?.name);
    expect(values.length).toBeGreaterThan(0);
    expect(names).toEqual(expect.arrayContaining(values));
  });
});
