import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useCli } from '../support/cli.js';
import { startOtherCrm } from '../support/other-crm.js';
import { hasTerminal } from '../support/process.js';
import { useRedis } from '../support/redis.js';

describe('page link', () => {
  const cli = useCli();
  const redis = useRedis();

  async function folderOf(language: 'en' | 'ko' = 'en') {
    const { url: baseUrl, token } = await startOtherCrm();
    const config = {
      workspaces: [{ name: 'acme', baseUrl, token, language }],
      redis: { prefix: redis.keys.prefix },
      http: { port: 0 },
    };
    return await cli({ 'changefeed.config.json': config });
  }

  it.skipIf(!hasTerminal)('page link: `start` prints it on a terminal, in the language of the workspaces', async () => {
    const service = (await folderOf('ko')).start(
      ['start', '--only', 'dispatch'],
      { REDIS_URL: redis.url },
      { columns: 200 },
    );
    const line = await service.waitForLine(/상태 페이지: http/);
    const [, url = '', token = ''] = /(http:\S+)\/#t=(\S+)/.exec(line) ?? [];
    const answer = await fetch(`${url}/api/about`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
  });

  it('page link: without a terminal, the log names the file of the token, and nothing shows it', async () => {
    const service = (await folderOf()).start(['start', '--only', 'dispatch'], { REDIS_URL: redis.url });
    const line = JSON.parse(await service.waitForLine(/status page is served/)) as { tokenFile: string };
    await service.waitForLine(/changefeed is running/);
    expect(service.stdout + service.stderr).not.toContain(readFileSync(line.tokenFile, 'utf8'));
  });
});
