/** What a service logs while something that it depends on is away, and at the debug level. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCli, type CliFolder } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import type { TestProcess } from '../support/process.js';
import { startPrivateRedis } from '../support/redis.js';

type Line = { level: string; msg: string } & Record<string, unknown>;

const LISTS = ['people', 'organization', 'memo', 'todo', 'history', 'activity'] as const;

const linesOf = ({ stderr }: TestProcess): Line[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);
const said = (service: TestProcess, msg: string): Line[] => linesOf(service).filter((line) => line.msg === msg);
describe('logs', { timeout: 240_000 }, () => {
  const cli = useCli();

  async function running(crm: OtherCrm, env: Record<string, string> = {}): Promise<[TestProcess, CliFolder]> {
    const redis = await startPrivateRedis();
    const lists = Object.fromEntries(LISTS.map((list) => [list, { interval: '1s' }]));
    const workspace = { name: 'acme', baseUrl: crm.url, token: crm.token, lists, todos: { watch: false } };
    const folder = await cli({
      'changefeed.config.mjs': `
        import { existsSync } from 'node:fs';
        import { defineHandler } from 'crm-changefeed';
        export default {
          workspaces: [${JSON.stringify({ ...workspace, budget: { requests: 10_000, perSeconds: 1 } })}],
          subscriptions: [defineHandler({ name: 'out', order: 'none', retry: { delay: '100ms', maxDelay: '200ms', attempts: 100 }, async handle() {
            if (!existsSync('away')) return;
            console.log('an attempt failed');
            throw new Error('the endpoint refused the connection');
          } })],
        };`,
    });
    const service = folder.start(['start'], { REDIS_URL: redis.url, ...env });
    await eventually(() => {
      const baselines = said(service, 'sweep complete').filter(({ mode }) => mode === 'baseline');
      expect(new Set(baselines.map(({ list }) => list)).size).toBe(LISTS.length);
    });
    return [service, folder];
  }

  it('logs: an endpoint that is away is logged once when its handler fails and once when it succeeds again', async () => {
    const crm = await startOtherCrm();
    const [service, { cwd }] = await running(crm);
    writeFileSync(join(cwd, 'away'), '');
    const edit = (index: number): void => {
      crm.lists.people[index] = { ...crm.lists.people[index]!, 이름: 'another name' };
    };
    for (const index of [0, 1, 2, 3]) edit(index);
    await service.waitForLine(/handler failed/);
    const failed = (): number => service.stdout.split('an attempt failed').length - 1;
    await eventually(() => expect(failed()).toBeGreaterThan(10));
    rmSync(join(cwd, 'away'));
    await service.waitForLine(/handler succeeds again/);

    const [line, ...more] = said(service, 'handler failed, the event will be retried');
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      workspace: 'acme',
      subscription: 'out',
      eventId: expect.stringMatching(/^evt_/) as string,
    });
    expect(said(service, 'handler succeeds again')).toEqual([
      expect.objectContaining({ level: 'info', subscription: 'out', forMs: expect.any(Number) as number }),
    ]);
    await service.kill('SIGTERM');
  });

  it('logs: debug shows each request, without token, cursor or contents', async () => {
    const crm = await startOtherCrm();
    const name = 'Name-that-only-records-have';
    crm.lists.people = crm.lists.people.map((one) => ({ ...one, 이름: name }));
    const [service] = await running(crm, { LOG_LEVEL: 'debug' });
    const requests = said(service, 'request');
    const people = requests.filter(({ list }) => list === 'people');
    expect(people[1]).toMatchObject({
      ...{ level: 'debug', workspace: 'acme', list: 'people', page: 2, status: 200, attempt: 1 },
      ...{ ms: expect.any(Number) as number, waitMs: expect.any(Number) as number },
    });
    expect(requests.every((line) => !('cursor' in line))).toBe(true);
    for (const secret of [crm.token, name]) expect(service.stderr).not.toContain(secret);
    await service.kill('SIGTERM');
  });
});
