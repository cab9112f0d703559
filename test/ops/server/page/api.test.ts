import { describe, expect, it, onTestFinished } from 'vitest';
import type { z } from 'zod';
import { triedSchema } from '../../../../src/delivery/ask/tried.js';
import { subscriptionDetails } from '../../../../src/delivery/receipts/delivery-row.js';
import type { ChangeEvent } from '../../../../src/events/types.js';
import * as answers from '../../../../src/ops/server/page/answers.js';
import { schema } from '../../../../src/ops/server/page/record-answers.js';
import { todoRows, todosReport } from '../../../../src/crm/todo-counts.js';
import { eventually } from '../../../support/eventually.js';
import { startOtherCrm } from '../../../support/other-crm.js';
import {
  handlerOf,
  OPERATOR,
  type PageFeedOptions,
  personEvent,
  startPageFeed,
  TOKENS,
} from '../../../support/page-feed.js';
import { appendEvents } from '../../../support/events.js';
import { useRedis } from '../../../support/redis.js';

const BROKEN = 'the receiver is broken';
const readBearer = { authorization: `Bearer ${TOKENS.read}` };

interface ApiDocument {
  tags: { name: string }[];
  paths: Record<
    string,
    Record<string, { operationId: string; description: string; tags: string[]; responses: object }>
  >;
  components: { schemas: object };
}

interface Page {
  events: { position: string; subject: string; type: string; changes: unknown[] }[];
  next: string | null;
  end: string;
}

describe('status page API', () => {
  const redis = useRedis();
  const open = (options?: PageFeedOptions) => startPageFeed(redis, options);
  const subjects = ({ events }: Page) => events.map(({ subject }) => subject);
  const eventOf = (record: string, fields: object = {}, field = '이름') =>
    personEvent(record, 1, { fields, changes: [{ field, before: 'old', after: 'new' }] });

  it('status page API: every answer has the form that its document promises', async () => {
    const page = await open({
      roles: ['poll', 'dispatch', 'handle'],
      subscriptions: [handlerOf('broken', () => BROKEN)],
    });
    const [logId] = await appendEvents(redis, [eventOf('p1')]);
    await eventually(async () => expect(await page.feed.deadLetters.count()).toBe(1));
    const forms: [string, z.ZodType][] = [
      ['/api/session', answers.session],
      ['/api/about', answers.about],
      ['/api/status', answers.status],
      ['/api/history', answers.history],
      ['/api/events', answers.eventsPage],
      [`/api/events/acme/${logId ?? ''}`, answers.oneEvent],
      ['/api/dead-letters', answers.deadLetters],
      ['/api/deliveries', answers.deliveries],
      ['/api/subscriptions/broken', subscriptionDetails],
      ['/api/todos?since=7d', todosReport],
      ['/api/todos/rows?show=open&owner=none&limit=2', todoRows],
      ['/api/lists/acme/people/schema', schema],
      ['/api/held', answers.heldRecords],
      ['/api/rules', answers.rules],
      ['/api/rules/values?workspace=acme&list=people&field=x', answers.ruleValues],
      ['/api/rules/a/history', answers.ruleHistory],
      ['/api/audit?since=7d&outcome=done', answers.auditList],
      ['/api/subscriptions/left-behind', answers.leftBehind],
      ['/api/try?subscription=broken&last=1d&list=people&record=p1', triedSchema],
    ];
    for (const [path, schema] of forms)
      expect({ path, ...schema.safeParse(await page.get(path)) }).toMatchObject({ path, success: true });
    const document = await page.get<ApiDocument>('/api/openapi.json');
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/events', '/api/status', '/api/dead-letters/retry']),
    );
    expect(document).toMatchObject({ servers: [{ url: '/' }], info: { license: { name: 'MIT' } } });
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(63);
    const listed = document.tags.map(({ name }) => name);
    for (const { tags, description, responses } of operations)
      expect({ tags, description, responses }).toMatchObject({
        tags: [expect.toBeOneOf(listed)],
        description: expect.stringMatching(/^[A-Z].*[^.]\.$/) as string,
        responses: { 200: {}, '4XX': {}, 503: {} },
      });
    const references = new Set(JSON.stringify(document).match(/(?<="\$ref":"#\/)[^"]+/g));
    const schemas = Object.keys(document.components.schemas).map((name) => `components/schemas/${name}`);
    expect([...references].sort()).toEqual(schemas.sort());
  });

  it('status page API: names the person that a record only has the id of, and the person in charge', async () => {
    const page = await open({ roles: ['poll'] });
    const person = page.crm.lists.people[0];
    const nameless = (subject: string, fields: object): ChangeEvent => {
      const event = personEvent(subject, 1);
      return { ...event, data: { ...event.data, after: { id: subject, ...fields } } };
    };
    await appendEvents(redis, [
      nameless('memo', { peopleId: person?.id, ownerId: 'u1' }),
      nameless('strangers memo', { peopleId: 'never seen', ownerId: 'u2' }),
      eventOf('p1', { 담당자: { id: 'u1', name: '박담당' } }),
    ]);
    const { events } = await page.get<z.infer<typeof answers.eventsPage>>('/api/events?limit=3');
    expect(events.map(({ subject, about, person: owner }) => [subject, about, owner?.name])).toEqual([
      ['p1', null, '박담당'],
      ['strangers memo', null, 'u2'],
      ['memo', person?.['이름'], '박담당'],
    ]);
  });

  it('status page API: names of people and fields cannot move or hide what stands next to them', async () => {
    const crm = await startOtherCrm();
    const hostile = 'Kim\u001b[2J\u202egnp.exe\u009b';
    Object.assign(crm.lists.todo[0]!, { 담당자: { id: 'u1', name: hostile }, 팀: [{ id: 't1', name: hostile }] });
    Object.assign(crm.lists.people[0]!, { [hostile]: { [hostile]: 1 } });
    const page = await open({ roles: ['poll'], crm });
    const todos = await page.get<z.infer<typeof todosReport>>('/api/todos');
    const fields = await page.get<z.infer<typeof schema>>('/api/lists/acme/people/schema');
    expect(todos.workspaces[0]?.people.map(({ name }) => name)).toContain('Kim␛[2Jgnp.exe␡');
    expect(fields.fields.map(({ field }) => field)).toContain('Kim␛[2Jgnp.exe␡');
    expect(JSON.stringify([todos, fields])).not.toMatch(/\p{C}/u);
  });

  it('status page API: no text of an event can move or hide what stands next to it', async () => {
    const hidden = (text: string) => `${text}\u202e\u061c\u200b\u2060\u{e0041}\u00ad👩\u200d👧`;
    const page = await open();
    const event = personEvent(hidden('p'), 1, {
      fields: { 이름: hidden('name'), 담당자: { id: hidden('u'), name: hidden('owner') } },
      changes: [{ field: hidden('field'), before: 'old', after: hidden('new') }],
    });
    const actor = { type: 'user', id: hidden('a'), name: hidden('actor') } as const;
    await appendEvents(redis, [{ ...event, data: { ...event.data, actor } }]);
    const { events } = await page.get<Page>('/api/events');
    expect(JSON.stringify(events).replaceAll('\u200d', '')).not.toMatch(/\p{C}/u);
    expect(events).toMatchObject([
      { subject: 'p👩\u200d👧', title: 'name👩\u200d👧', person: { id: 'u👩\u200d👧' }, actor: { id: 'a👩\u200d👧' } },
    ]);
  });

  it('status page API: pages through the log without a gap, newest first', async () => {
    const page = await open();
    await appendEvents(
      redis,
      Array.from({ length: 450 }, (_, index) => eventOf(`p${index}`)),
    );
    const seen: string[] = [];
    for (let before: string | null = ''; before !== null;) {
      const part: Page = await page.get(`/api/events?limit=100${before === '' ? '' : `&before=${before}`}`);
      seen.push(...subjects(part));
      before = part.next;
    }
    expect(seen).toEqual(Array.from({ length: 450 }, (_, index) => `p${449 - index}`));
  });

  it('status page API: finds events by list, type, field, person in charge, record and text', async () => {
    const page = await open();
    await appendEvents(redis, [
      eventOf('p1', { 이름: '김하나', 담당자: { id: 'u1', name: '박담당' } }),
      eventOf('p2', { 이름: '이둘', 담당자: { id: 'u2', name: '최담당' } }, '등급'),
    ]);
    const found = async (query: string) => subjects(await page.get(`/api/events?${query}`));
    expect(await found('list=people')).toEqual(['p2', 'p1']);
    expect(await found('list=memo')).toEqual([]);
    expect(await found('type=crm.*.updated')).toEqual(['p2', 'p1']);
    expect(await found('type=crm.*.created')).toEqual([]);
    expect(await found('type=crm.*.created,crm.person.*')).toEqual(['p2', 'p1']);
    expect(await found(`field=${encodeURIComponent('등급')}`)).toEqual(['p2']);
    expect(await found(`person=${encodeURIComponent('박')}`)).toEqual(['p1']);
    expect(await found('person=u2')).toEqual(['p2']);
    expect(await found('record=p1')).toEqual(['p1']);
    expect(await found(`text=${encodeURIComponent('하나')}`)).toEqual(['p1']);
    expect((await fetch(`${page.url}/api/events?list=nothing`, { headers: OPERATOR })).status).toBe(404);
  });

  it('status page API: shows who made a change, of the event or of a field, and finds events by it', async () => {
    const page = await open();
    const [user, ours] = [
      { type: 'user', id: 'u1', name: '박담당' },
      { type: 'api', id: 'k1', name: null },
    ];
    const by = (record: string, more: object): ChangeEvent => {
      const event = eventOf(record);
      return { ...event, data: { ...event.data, ...more } };
    };
    await appendEvents(redis, [
      by('p1', { actor: user }),
      by('p2', { changes: [{ field: '이름', before: 'old', after: 'new', actor: ours }] }),
      by('p3', {}),
    ]);
    const { events } = await page.get<z.infer<typeof answers.eventsPage>>('/api/events');
    expect(events.map(({ subject, actor, changes }) => [subject, actor, changes[0]?.actor])).toEqual([
      ['p3', null, null],
      ['p2', null, ours],
      ['p1', user, null],
    ]);
    const found = async (actor: string) => subjects(await page.get(`/api/events?actor=${encodeURIComponent(actor)}`));
    expect(await found('user')).toEqual(['p1']);
    expect(await found('박')).toEqual(['p1']);
    expect(await found('k1')).toEqual(['p2']);
    expect(await found('unknown')).toEqual(['p3']);
  });

  it('events: a reader that was cut off continues where it was, without a gap and without repetition', async () => {
    const page = await open();
    const [first] = await appendEvents(
      redis,
      ['p1', 'p2', 'p3'].map((record) => eventOf(record)),
    );
    const read = await follow(`${page.url}/events?view=summary`, {
      ...OPERATOR,
      accept: 'text/event-stream',
      'last-event-id': `acme@${first ?? ''}`,
    });
    await eventually(() => expect(read.subjects()).toEqual(['p2', 'p3']));
    await appendEvents(redis, [eventOf('p4')]);
    await eventually(() => expect(read.subjects()).toEqual(['p2', 'p3', 'p4']));
  });

  it('events: a process has at most 200 streams, and others when some have ended', async () => {
    const page = await open({ http: { trustedProxy: { from: ['127.0.0.1'], userHeader: 'x-user' } } });
    const stopping = new AbortController();
    const opened = (user: string, signal?: AbortSignal): Promise<Response> =>
      fetch(`${page.url}/events`, { headers: { 'x-user': user }, ...(signal && { signal }) });
    const users = ['kim', 'lee', 'park', 'choi'].flatMap((user) => Array<string>(50).fill(user));
    const streams = await Promise.all(users.map((user) => opened(user, stopping.signal)));
    const refused = await opened('jung');
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining('200 open streams') as unknown },
    });
    // The answers are looked at last: `fetch` closes the connection of one that the garbage collector took.
    expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
    stopping.abort();
    await eventually(async () => expect((await opened('jung')).status).toBe(200));
  });

  it('events: as lines of JSON, to the end of the log', async () => {
    const page = await open();
    await appendEvents(redis, [eventOf('p1'), eventOf('p2')]);
    const answer = await fetch(`${page.url}/events?from=beginning&follow=false`, { headers: OPERATOR });
    expect(answer.headers.get('content-type')).toContain('application/x-ndjson');
    const lines = (await answer.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: { subject: string } });
    expect(lines.map(({ event }) => event.subject)).toEqual(['p1', 'p2']);
  });

  it.each([
    ['/api/events?limit=5&befor=x', 'the query: Unrecognized key: "befor"'],
    ['/api/status?workspace=acme', 'the query: Unrecognized key: "workspace"'],
    ['/events?form=now', 'the query: Unrecognized key: "form"'],
    ['/api/events?before=x', 'the query: before: not a position such as acme@1700000000000-0.'],
  ])('status page API: refuses %s', async (path, message) => {
    const page = await open();
    const answer = await fetch(`${page.url}${path}`, { headers: OPERATOR });
    expect([answer.status, await answer.json()]).toEqual([400, { error: { status: 400, message } }]);
  });

  it('sign in: a token becomes a session', async () => {
    const page = await open({ http: { tokens: TOKENS } });
    const right = await page.act('/api/session', { token: TOKENS.read });
    const cookie = right.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(
      /^changefeed_session_\d+=read\.\d+\.[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    );
    const overTls = await page.act('/api/session', { token: TOKENS.read }, { 'x-forwarded-proto': 'https' });
    expect(overTls.headers.get('set-cookie')).toMatch(/; Secure$/);
    expect(await page.get('/api/session', { cookie: cookie.split(';')[0] ?? '' })).toMatchObject({
      caller: { role: 'read' },
    });
  });

  it('bull-board: is for operators', async () => {
    const page = await open({ http: { tokens: TOKENS } });
    expect((await fetch(`${page.url}/queues`, { headers: readBearer })).status).toBe(403);
    const answer = await fetch(`${page.url}/queues/`, { headers: { authorization: `Bearer ${TOKENS.operate}` } });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('<html')]);
  });
});

/** Reads server-sent events until the test ends. */
async function follow(url: string, headers: Record<string, string>): Promise<{ subjects: () => string[] }> {
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const { body } = await fetch(url, { headers, signal: ending.signal });
  let text = '';
  const reading = async (): Promise<void> => {
    for await (const part of body!.pipeThrough(new TextDecoderStream())) text += part;
  };
  reading().catch(() => undefined);
  const data = () =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, line]) => JSON.parse(line ?? '') as { subject: string });
  return { subjects: () => data().map(({ subject }) => subject) };
}
