import { describe, expect, it } from 'vitest';
import type { Status } from '../../src/ops/watch/status.js';
import { problemsOfPrinted } from '../support/cli-schema.js';
import { STACK_OR_COLOUR, useCli, type CliRun } from '../support/cli.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { useRedis } from '../support/redis.js';

describe('failures: the command line', () => {
  const cli = useCli();
  const redis = useRedis();

  const workspaceOf = (crm: OtherCrm, more: object = {}): object => ({
    name: 'acme',
    baseUrl: crm.url,
    token: crm.token,
    ...more,
  });
  async function folderOf(crm: OtherCrm, subscriptions = '[]', workspace: object = {}) {
    const folder = await cli({
      'changefeed.config.mjs': `
        import { defineHandler } from 'crm-changefeed';
        const retry = { attempts: 2, delay: '10ms' };
        export default {
          workspaces: [${JSON.stringify(workspaceOf(crm, workspace))}],
          redis: { prefix: ${JSON.stringify(redis.keys.prefix)} },
          subscriptions: ${subscriptions},
        };`,
    });
    const env = { REDIS_URL: redis.url };
    const checked = (result: CliRun): CliRun => {
      const said = result.stdout + result.stderr;
      expect(said).not.toMatch(STACK_OR_COLOUR);
      expect(said).not.toContain(crm.token);
      return result;
    };
    return {
      cwd: folder.cwd,
      start: (args: readonly string[], more = {}) => folder.start(args, { ...env, ...more }),
      run: async (args: readonly string[], more = {}): Promise<CliRun> =>
        checked(await folder.run(args, { ...env, ...more })),
      /** In this process: what the log writes is not in its output. */
      call: async (args: readonly string[], more = {}, io = {}): Promise<CliRun> =>
        checked(await folder.call(args, { ...env, ...more }, io)),
    };
  }
  const editPeople = (crm: OtherCrm, count: number): void => {
    for (let index = 0; index < count; index++) {
      crm.lists.people[index] = { ...crm.lists.people[index]!, 이름: `이름 ${crypto.randomUUID()}` };
    }
  };

  it('failures: a sweep that cannot read a page names list, page and reason, and keeps its checkpoint', async () => {
    const crm = await startOtherCrm();
    const folder = await folderOf(crm);
    crm.fault = (list, cursor) =>
      list === 'people' && cursor !== null
        ? { status: 403, body: { success: false, message: 'Forbidden', reason: 'plan' } }
        : undefined;
    const stopped = await folder.call(['sweep', 'people', 'todo']);
    expect(stopped).toMatchObject({ code: 1, stdout: '' });
    expect(stopped.stderr).toMatch(
      /^✗ people +stopped at page 2: the API at \S+ answered 403 \("Forbidden: plan"\)\. Check .*\[CF_FORBIDDEN\]\n✓ todo .*\nBaseline complete: .*\nchangefeed: 1 of 2 lists could not be completed\. .*continues where this one stopped\. \[CF_SWEEP_INCOMPLETE\]\n$/,
    );
    crm.fault = () => undefined;
    const before = crm.asked.length;
    const data = await folder.call(['sweep', 'people', '--json']);
    expect(JSON.parse(data.stdout)).toMatchObject({
      sweeps: [{ workspace: 'acme', list: 'people', outcome: 'complete', mode: 'baseline', pages: 3, events: 0 }],
      unhandled: [],
    });
    expect(crm.asked.slice(before)).toHaveLength(2);
  });

  it('failures: an unreachable API and a refused token are reported', async () => {
    const crm = await startOtherCrm();
    const folder = await folderOf(crm, '[]', { baseUrl: 'http://127.0.0.1:1' });
    const stranger = await folderOf(crm, '[]', { name: 'other', token: 'an-old-token' });
    const [absent, refused] = await Promise.all([
      folder.run(['sweep', 'memo', 'todo']),
      stranger.call(['sweep', 'memo', 'todo']),
    ]);
    expect([absent.code, refused.code]).toEqual([1, 1]);
    expect(absent.stderr).toMatch(
      /✗ memo .*page 1: the API at 127\.0\.0\.1:1 did not answer \(ECONNREFUSED\).*5 attempts/,
    );
    expect(absent.stderr).toMatch(/✗ todo .*for the same reason/);
    expect(absent.stderr.match(/the API went away/g)).toHaveLength(1);
    expect(refused.stderr).toMatch(/✗ memo .*page 1: .*answered 401.*newest token.*\[CF_UNAUTHORISED\]/);
    expect(refused.stderr).not.toContain('an-old-token');
  });

  it('failures: events of handlers that throw or hang become dead letters; the return value is ignored', async () => {
    const crm = await startOtherCrm();
    const folder = await folderOf(
      crm,
      `[
        defineHandler({ name: 'throws', retry, handle() { throw new Error('no luck'); } }),
        defineHandler({ name: 'hangs', retry: { attempts: 1 }, timeout: '100ms', handle: () => new Promise(() => {}) }),
        defineHandler({ name: 'returns', retry, handle: () => 42 }),
      ]`,
    );
    expect(await folder.call(['sweep', 'people'])).toMatchObject({ code: 0 });
    editPeople(crm, 2);
    const swept = await folder.run(['sweep', 'people']);
    expect(swept.code).toBe(1);
    expect(swept.stderr).toMatch(/✓ people +2 events/);
    expect(swept.stderr).toMatch(/subscription "throws": 2 events became dead letters/);
    expect(swept.stderr).toMatch(/subscription "hangs": 2 events became dead letters/);
    expect(swept.stderr).not.toMatch(/subscription "returns"/);
    expect(swept.stderr).toMatch(/Error with a message of 7 characters/);

    const [asData, asPage] = [await folder.call(['status', '--json']), await folder.call(['status'])];
    const { subscriptions } = JSON.parse(asData.stdout) as Status;
    expect(problemsOfPrinted('status', JSON.parse(asData.stdout))).toEqual([]);
    expect(problemsOfPrinted('status', { subscriptions })).not.toEqual([]);
    expect(subscriptions.map(({ name, dead, lagEvents }) => [name, dead, lagEvents])).toEqual([
      ['throws', 2, 0],
      ['hangs', 2, 0],
      ['returns', 0, 0],
    ]);
    expect(asPage.stdout).toMatch(/throws .* 2\n/);
  });

  it('failures: a sweep whose events are not handled in time names the subscription and ends with exit code 1', async () => {
    const crm = await startOtherCrm();
    const handle = `handle: (event, { signal }) => new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    })`;
    const folder = await folderOf(crm, `[defineHandler({ name: 'slow', ${handle} })]`);
    await folder.call(['sweep', 'people']);
    editPeople(crm, 3);
    const run = await folder.call(['sweep', 'people', '--timeout', '300ms', '--json']);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(
      /^changefeed: not handled within 300 ms: "slow" 3 events\. They stay in the queue: .*--timeout/m,
    );
    expect(problemsOfPrinted('sweep', JSON.parse(run.stdout))).toEqual([]);
    expect(JSON.parse(run.stdout)).toMatchObject({
      sweeps: [{ list: 'people', outcome: 'complete', events: 3 }],
      unhandled: [{ subscription: 'slow', workspace: 'acme' }],
    });
  });

  it('failures: an unhandled rejection in a handler stops the service in order', async () => {
    const crm = await startOtherCrm();
    const handler = `defineHandler({ name: 'forgetful', handle() { void Promise.reject(new Error('forgotten')); } })`;
    const folder = await folderOf(crm, `[${handler}]`);
    await folder.call(['sweep', 'people']);
    editPeople(crm, 3);
    const run = await folder.run(['sweep', 'people']);
    expect(run.code).toBe(1);
    expect(run.stderr.match(/Stopping.*/g)).toEqual(['Stopping; nothing is lost. [CF_HANDLER_UNCAUGHT]']);
    expect(run.stderr).toMatch(
      /^changefeed: an error outside of .* at changefeed\.config\.mjs:\d+:\d+: Error with a message of 9 characters/m,
    );
  });

  it('failures: the log names file, line and column of the error of a handler, without a stack', async () => {
    const crm = await startOtherCrm();
    const handler = `defineHandler({ name: 'broken', retry, handle(event) { event.data.gone.field; } })`;
    const folder = await folderOf(crm, `[${handler}]`);
    await folder.call(['sweep', 'people']);
    editPeople(crm, 1);
    const { stderr } = await folder.run(['sweep', 'people']);
    expect(stderr).toMatch(/WARN .*handler failed.* at=changefeed\.config\.mjs:7:\d+/);
    expect(stderr).toMatch(/ERROR .*dead letter.* at=changefeed\.config\.mjs:7:\d+/);
    expect(stderr).not.toContain('Cannot read properties');
    expect(JSON.stringify(JSON.parse((await folder.call(['status', '--json'])).stdout))).not.toContain('Cannot read');

    const [letter] = (await folder.call(['dead', 'list', '--json'])).stdout.split('\n');
    const shown = await folder.call(['dead', 'show', (JSON.parse(letter!) as { id: string }).id]);
    expect(shown.stdout).toMatch(
      /attempt 1 .* TypeError: Cannot read properties.*\n {4}in .*config\.mjs:7:\d+\n {2}attempt 2/,
    );
  });

  it('failures: a terminal shows what the error of a handler says', async () => {
    const crm = await startOtherCrm();
    const handler = `defineHandler({ name: 'broken', retry, handle(event) { event.data.gone.field; } })`;
    const folder = await folderOf(crm, `[${handler}]`);
    await folder.call(['sweep', 'people']);
    editPeople(crm, 1);
    const { stderr } = await folder.call(['sweep', 'people'], { NO_COLOR: '1' }, { interactive: true });
    expect(stderr).toMatch(/WARN .*what was said when an attempt failed.*Cannot read properties of undefined/);
  });

  it('sweep: the command waits for the sweep of a running service, and both complete', async () => {
    const crm = await startOtherCrm();
    const folder = await folderOf(crm, '[]', { lists: { people: { interval: '1s' } } });
    const service = folder.start(['start']);
    await service.waitForLine(/changefeed is running/);
    const runs = await Promise.all([folder.call(['sweep']), folder.call(['sweep', 'people'])]);
    expect(runs.map(({ code }) => code)).toEqual([0, 0]);
    expect(runs[0].stderr.match(/^✓/gm)).toHaveLength(6);
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});
