import { expect, inject, test } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { useCli } from '../support/cli.js';

const folder = useCli();

test(
  'probe: describes the lists that are named, as text and as JSON, and exits 1 when none can be read',
  { timeout: 240_000 },
  async () => {
    const sandbox = createSandbox({ people: 60, limit: null });
    try {
      const { url, token } = await sandbox.start();
      const cli = await folder();
      const env = { REDIS_URL: inject('redisUrl'), CHANGEFEED_BASE_URL: url, CHANGEFEED_TOKEN: token };
      const text = await cli.call(['probe', 'people', 'people/activity'], env);
      expect(text).toMatchObject({ code: 0, stderr: '' });
      expect(text.stdout).toMatch(/^people {2}v2\/people .*\n {2}page size {7}50 \(1 page\)\n/);
      expect(text.stdout).toContain('\nactivity  v2/people/activity');
      expect(text.stdout).not.toContain('memo  ');
      const json = await cli.call(['probe', 'todo', '--json', '--requests', '3'], env);
      expect(JSON.parse(json.stdout)).toMatchObject({ requests: 3, lists: [{ list: 'todo', pages: 2 }], failed: [] });
      sandbox.reissueToken('another');
      const refused = await cli.call(['probe', 'todo'], env);
      expect(refused.code).toBe(1);
      expect(refused.stdout).toContain('answered 401');
    } finally {
      await sandbox.stop();
    }
  },
);
