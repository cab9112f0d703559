/** The private Redis shared by the commands of one project: it runs while at least one of them runs. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { LIST_NAMES } from '../../src/crm/lists/lists.js';
import { useCli, type CliRun } from '../support/cli.js';
import { startOtherCrm, type OtherCrm } from '../support/other-crm.js';
import { homeOf, redisBinary, stopLeftRedis } from '../support/private-redis.js';
import type { TestProcess } from '../support/process.js';

const WAIT_MS = 60_000;

const folderOf = useCli();

describe.skipIf(redisBinary === undefined)('the private Redis of a project', { timeout: 600_000 }, () => {
  it('private Redis: has its data and its address again after all processes were killed at once', async () => {
    const crm = await startOtherCrm();
    const folder = await folderOf({
      'changefeed.config.json': {
        workspaces: [{ name: 'acme', baseUrl: crm.url, token: crm.token, lists: peopleEverySecond() }],
        subscriptions: [{ handler: 'ndjson', name: 'stdout', on: ['crm.*'] }],
      },
    });
    const stateDir = join(folder.cwd, 'state');
    onTestFinished(() => stopLeftRedis(stateDir));
    /** Renames a person in the CRM and waits until this process handles the event. */
    const delivers = async (service: TestProcess): Promise<void> => {
      const name = `renamed-${crypto.randomUUID()}`;
      crm.lists.people[0] = { ...crm.lists.people[0]!, 이름: name };
      await service.waitForLine(new RegExp(`"crm.person.updated".*${name}`), WAIT_MS);
    };
    const killed = folder.start(['start']);
    // A change before the end of the first sweep yields no event.
    await killed.waitForLine(/"mode":"baseline".*sweep complete/);
    await delivers(killed);
    const { url } = homeOf(stateDir);
    process.kill(killed.pid, 'SIGKILL');
    process.kill(await redisPid(url), 'SIGKILL');
    await killed.exited;

    const next = folder.start(['start']);
    await next.waitForLine(/changefeed is running/);

    expect(homeOf(stateDir).url).toBe(url);
    // A new baseline would yield no event for this change.
    await delivers(next);
    expect(next.stderr).not.toContain('"mode":"baseline"');
  });
});

it.skipIf(redisBinary === undefined)(
  'private Redis: outside a project, two CRMs configured by the environment do not share their state',
  async () => {
    const folder = await folderOf();
    const sweep = async ({ url, token }: OtherCrm): Promise<CliRun> => {
      const env = { CHANGEFEED_STATE_DIR: undefined, XDG_STATE_HOME: join(folder.cwd, 'states') };
      return folder.run(['sweep', 'people'], { ...env, CHANGEFEED_BASE_URL: url, CHANGEFEED_TOKEN: token });
    };
    const [first, second] = [await startOtherCrm(), await startOtherCrm()];
    second.lists.people = second.lists.people.map((person) => ({ ...person, id: `other-${person.id}` }));
    first.lists.people.length = 5;

    const baselines = [await sweep(first), await sweep(second)];
    first.lists.people[0] = { ...first.lists.people[0]!, 이름: 'renamed' };
    const again = await sweep(first);

    // A baseline yields no events; events would show that the records of the other CRM were taken for known ones.
    expect(baselines).toMatchObject([
      { code: 0, stdout: '' },
      { code: 0, stdout: '' },
    ]);
    expect(again.code).toBe(0);
    expect(again.stdout.trim().split('\n')).toHaveLength(1);
    expect(again.stdout).toMatch(/"crm.person.updated"/);
    expect(readdirSync(join(folder.cwd, 'states', 'changefeed'))).toHaveLength(2);
  },
);

function peopleEverySecond(): object {
  return Object.fromEntries(
    LIST_NAMES.map((list) => [list, list === 'people' ? { interval: '1s' } : { enabled: false }]),
  );
}

async function redisPid(url: string): Promise<number> {
  const redis = new Redis(url, { retryStrategy: () => null });
  redis.on('error', () => undefined);
  try {
    return Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
  } finally {
    redis.disconnect();
  }
}
