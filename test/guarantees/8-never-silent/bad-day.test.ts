/** Ordinary bad days of a running service, with real processes and a private Redis. */
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { LIST_NAMES } from '../../../src/crm/lists/lists.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { Status } from '../../../src/ops/watch/status.js';
import { problemsOfPrinted } from '../../support/cli-schema.js';
import { useCli, type CliFolder } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { eventsIn } from '../../support/ndjson.js';
import { isGate } from '../../support/night.js';
import { startOtherCrm, type OtherCrm } from '../../support/other-crm.js';
import type { TestProcess } from '../../support/process.js';
import { startPrivateRedis } from '../../support/redis.js';

/** What is promised; ms. */
const WITHIN_A_MINUTE = 60_000;

describe('never silent: a bad day', { timeout: 240_000 }, () => {
  const cli = useCli();

  const configOf = (crm: OtherCrm): object => {
    const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, { interval: '1s' }]));
    const budget = { requests: 10_000, perSeconds: 1 };
    return {
      workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, budget, lists, todos: { watch: false } }],
      subscriptions: [
        { handler: 'ndjson', name: 'records', path: 'records.ndjson', on: ['crm.*'] },
        { handler: 'ndjson', name: 'feed', path: 'feed.ndjson', on: ['changefeed.*'] },
      ],
    };
  };
  const started = async (...args: string[]) => {
    const redis = await startPrivateRedis();
    const crm = await startOtherCrm();
    const folder = await cli({ 'changefeed.config.json': configOf(crm) });
    const env = { REDIS_URL: redis.url };
    return { redis, crm, folder, env, service: folder.start(['start', ...args], env) };
  };
  const written = ({ cwd }: CliFolder, file: 'records' | 'feed'): ChangeEvent[] =>
    eventsIn(join(cwd, `${file}.ndjson`));
  const statusOf = async (folder: CliFolder, env: Record<string, string>): Promise<Status> => {
    const { stdout, stderr } = await folder.call(['status', '--json'], env);
    if (stdout === '') throw new Error(`status printed nothing: ${stderr}`);
    return JSON.parse(stdout) as Status;
  };
  const healthy = async (folder: CliFolder, env: Record<string, string>): Promise<void> =>
    await eventually(async () => expect((await folder.call(['status', '--check'], env)).code).toBe(0));
  const linesOf = (service: TestProcess, pattern: RegExp): string[] =>
    service.stderr.split('\n').filter((line) => pattern.test(line));
  /** Waits until the service has read every list for the first time, or after a loss for the second time. */
  const baselined = async (service: TestProcess, times = 1): Promise<void> => {
    const ofList = (list: string): string[] =>
      linesOf(service, new RegExp(`"list":"${list}".*"mode":"baseline".*"sweep complete"`));
    const missing = (): string[] => LIST_NAMES.filter((list) => ofList(list).length < times);
    await eventually(() => expect(missing()).toEqual([]));
  };
  const rename = (crm: OtherCrm, name: string): void => {
    crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: name, '수정 날짜': new Date().toISOString() };
  };

  it('never silent: after FLUSHALL polling and delivery continue, the loss is reported, and no flood of events follows', async () => {
    const { redis, crm, folder, env, service } = await started();
    await baselined(service);

    const admin = new Redis(redis.url);
    await admin.flushall();
    admin.disconnect();
    await service.waitForLine(/STATE LOST/, WITHIN_A_MINUTE);
    const [lost] = await eventually(() => {
      const found = written(folder, 'feed');
      expect(found.map(({ type }) => type)).toContain('changefeed.state.lost');
      return found.filter(({ type }) => type === 'changefeed.state.lost');
    });
    expect(lost?.data.notice).toMatchObject({ severity: 'error' });
    expect(lost?.data.notice?.message).toContain('was lost in Redis');
    await baselined(service, 2);
    expect(written(folder, 'records')).toEqual([]);

    rename(crm, '이름이 바뀐 사람');
    await eventually(() => {
      const types = written(folder, 'records').map(({ type }) => type);
      expect(types).toEqual(['crm.person.updated']);
    });
    expect(linesOf(service, /STATE LOST/)).toHaveLength(1);
    const workspace = (await statusOf(folder, env)).workspaces[0];
    expect(workspace?.stateLostAt).not.toBeNull();
    expect(workspace?.lists.filter(({ baselineAt }) => baselineAt === null)).toEqual([]);
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  it.skipIf(isGate)(
    'never silent: a refused token is reported in log, status and event, and so is its end',
    async () => {
      const { crm, folder, env, service } = await started();
      await baselined(service);
      expect((await folder.call(['status', '--check'], env)).code).toBe(0);

      const { token } = crm;
      crm.token = 'another-token';
      await service.waitForLine(/the API refuses the token/, WITHIN_A_MINUTE);
      await eventually(() =>
        expect(written(folder, 'feed').map(({ type }) => type)).toContain('changefeed.workspace.unauthorized'),
      );
      const now = await statusOf(folder, env);
      const { problems, workspaces } = now;
      expect(problemsOfPrinted('status', now)).toEqual([]);
      expect(problems.map(({ kind, workspace, subject }) => ({ kind, workspace, subject }))).toEqual([
        { kind: 'workspace.unauthorized', workspace: 'acme', subject: 'workspace' },
      ]);
      expect(problems[0]?.message).toMatch(/answered 401.*give the workspace the newest token/);
      expect(workspaces[0]?.lists[0]?.failure).toMatchObject({ code: 'CF_UNAUTHORISED' });
      const shown = await folder.call(['status', '--check'], env);
      expect(shown.code).toBe(1);
      expect(shown.stdout).toMatch(/^1 problem\n {2}workspace\.unauthorized {2}for .*answered 401/);
      // One error for all lists, regardless of the number of attempts.
      const errors = (): string[] =>
        linesOf(service, /"level":"error"/).map((line) => (JSON.parse(line) as { msg: string }).msg);
      expect(errors()).toEqual([expect.stringContaining('the API refuses the token')]);
      expect(linesOf(service, /sweep resumed/)).toEqual([]);

      // It is over when one list was read again, however long the others take.
      crm.fault = (list) => (list === 'people' ? undefined : { status: 500, body: '' });
      crm.token = token;
      await service.waitForLine(/the API accepts the token again/);
      // The line is written first; then what is stored about each list goes.
      await eventually(async () =>
        expect((await statusOf(folder, env)).problems.map(({ kind }) => kind)).not.toContain('workspace.unauthorized'),
      );
      crm.fault = () => undefined;
      await eventually(
        () =>
          expect(written(folder, 'feed').map(({ data }) => data.notice?.problem)).toContain('workspace.unauthorized'),
        { timeoutMs: 120_000 },
      );
      expect(errors()).toHaveLength(1);
      expect(linesOf(service, /complete again/)).toEqual([]);
      const reported = written(folder, 'feed').map(({ type }) => type);
      expect(reported.filter((type) => type !== 'changefeed.problem.over')).toEqual([
        'changefeed.workspace.unauthorized',
      ]);
      await service.kill('SIGTERM');
    },
  );

  it('never silent: an API that only returns errors is reported within a minute', async () => {
    const { crm, folder, env, service } = await started();
    await baselined(service);

    crm.fault = () => ({ status: 503, body: '' });
    await service.waitForLine(/the API went away/, WITHIN_A_MINUTE);
    await eventually(() =>
      expect(new Set(written(folder, 'feed').map(({ type }) => type))).toEqual(new Set(['changefeed.api.away'])),
    );
    const [problem, ...others] = (await statusOf(folder, env)).problems;
    expect({ others, subject: problem?.subject }).toEqual({ others: [], subject: 'workspace' });
    const shown = await folder.call(['status', '--check'], env);
    expect({ code: shown.code, says: /api\.away .*127\.0\.0\.1:\d+ answered 503/.test(shown.stdout) }).toEqual({
      code: 1,
      says: true,
    });

    crm.fault = () => undefined;
    await service.waitForLine(/the API is back/);
    await healthy(folder, env);
    const types = written(folder, 'feed').map(({ type }) => type);
    expect(types.filter((type) => type !== 'changefeed.problem.over')).toEqual(['changefeed.api.away']);
    expect(linesOf(service, /sweep resumed|"msg":"problem"/)).toEqual([]);
    expect(linesOf(service, /"level":"(warn|error)"/)).toEqual([expect.stringContaining('the API went away')]);
    await service.kill('SIGTERM');
  });

  it.skipIf(isGate)(
    'never silent: a list that no process sweeps is reported, although a process polls others',
    async () => {
      const { crm, folder, env, service } = await started('--only', 'dispatch,handle');
      // The same workspace, by an older configuration that does not poll the memos.
      const older = configOf(crm) as { workspaces: [{ lists: Record<string, object> }] };
      older.workspaces[0].lists['memo'] = { enabled: false };
      const poller = (await cli({ 'changefeed.config.json': older })).start(['start', '--only', 'poll'], env);

      await service.waitForLine(/"problem":"list.late".*"subject":"list:memo"/, 80_000);
      await eventually(() =>
        expect(written(folder, 'feed').map(({ type, subject }) => `${type} ${subject}`)).toEqual([
          'changefeed.list.late list:memo',
        ]),
      );
      const { code, stdout } = await folder.call(['status', '--check'], env);
      expect({ code, says: stdout.includes('no process has started it') }).toEqual({ code: 1, says: true });
      await Promise.all([service.kill('SIGTERM'), poller.kill('SIGTERM')]);
    },
  );

  it.skipIf(isGate)('never silent: a missing poller is noticed within a minute', async () => {
    const { folder, env, service } = await started();
    await baselined(service);
    const rest = folder.start(['start', '--only', 'dispatch,handle'], env);
    await rest.waitForLine(/changefeed is running/);
    await service.kill('SIGKILL');

    await rest.waitForLine(/"problem":"role.missing".*"subject":"role:poll"/, WITHIN_A_MINUTE);
    await eventually(() => expect(written(folder, 'feed').map(({ subject }) => subject)).toEqual(['role:poll']));
    const { code, stdout } = await folder.call(['status', '--check'], env);
    expect({ code, says: stdout.includes('no list is swept') }).toEqual({ code: 1, says: true });
    await rest.kill('SIGTERM');
  });
});
