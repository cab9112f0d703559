/** A process that serves consumers, for a test to kill at any time: two logs, and the consumer `c` of both. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openChangefeed, pull } from '../../src/index.js';

const { PULL_URL: url = '', PULL_PREFIX: prefix = '', PULL_TOKEN: token = '' } = process.env;
const feed = await openChangefeed({
  config: {
    workspaces: ['acme', 'beta'].map((name) => ({ name, baseUrl: 'http://127.0.0.1:9/api', token: 'none' })),
    subscriptions: [pull({ name: 'c', token, start: 'beginning', visibility: '1s' })],
    redis: { url, prefix },
    http: { port: 0, tokens: { operate: 'operate-token-of-the-child-4402' } },
  },
  stateDir: await mkdtemp(join(tmpdir(), 'changefeed-pull-')),
  http: true,
});
await feed.start(['dispatch']);
process.stdout.write(`serves ${feed.pageUrl ?? ''}\n`);
