import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { Keys } from '../../src/redis/keys.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { startOtherCrm } from '../support/other-crm.js';
import { startPrivateRedis } from '../support/redis.js';

const cli = useCli();
const interval = { interval: '1s' };

it(
  'unreadable: a process names the damaged value in its log and goes on with other lists; the list goes on when the value is removed',
  { timeout: 240_000 },
  async () => {
    const { url } = await startPrivateRedis();
    const redis = new Redis(url);
    const crm = await startOtherCrm();
    const folder = await cli({
      'changefeed.config.json': {
        workspaces: [
          {
            name: 'acme',
            baseUrl: crm.url,
            token: crm.token,
            budget: { requests: 10_000, perSeconds: 1 },
            lists: { people: interval, organization: interval },
          },
        ],
        subscriptions: [{ handler: 'ndjson', name: 'records', path: 'records.ndjson', on: ['crm.*.updated'] }],
      },
    });
    const service = folder.start(['start'], { REDIS_URL: url });
    const sweepKey = new Keys().sweep('acme', 'people');
    await eventually(async () => {
      const baselines = ['people', 'organization'] as const;
      const at = await Promise.all(
        baselines.map((list) => redis.hexists(new Keys().sweep('acme', list), 'baselineAt')),
      );
      expect(at).toEqual([1, 1]);
    });

    await redis.hset(sweepKey, 'lastSweep', 'damaged-contents');
    await service.waitForLine(/CF_STATE_UNREADABLE|sweep:people/);
    const stampOf = { '수정 날짜': new Date().toISOString(), 이름: 'another name' };
    crm.lists.people[0] = { ...crm.lists.people[0]!, ...stampOf };
    crm.lists.organization[0] = { ...crm.lists.organization[0]!, ...stampOf };
    const updated = async (): Promise<string[]> => {
      const text = await readFile(join(folder.cwd, 'records.ndjson'), 'utf8').catch(() => '');
      return text.split('\n').flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { type: string }).type]));
    };
    await eventually(async () => expect(await updated()).toEqual(['crm.organization.updated']));
    expect(service.stderr).not.toContain('damaged-contents');

    await redis.hdel(sweepKey, 'lastSweep');
    await eventually(async () => expect(await updated()).toContain('crm.person.updated'));
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    redis.disconnect();
  },
);
