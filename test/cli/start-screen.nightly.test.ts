import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { widthOf } from '../../src/cli/text.js';
import type { ChangeEvent } from '../../src/events/types.js';
import { createSandbox, type Sandbox } from '../../sandbox/sandbox.js';
import { useCli } from '../support/cli.js';
import { eventually } from '../support/eventually.js';
import { hasTerminal, type TestProcess } from '../support/process.js';
import { useRedis } from '../support/redis.js';

const CONFIG = `
  import { appendFileSync } from 'node:fs';
  import { defineHandler, ndjson } from 'crm-changefeed';
  const log = defineHandler({ name: 'own', handle: ({ subject }, { log }) => log.info({ subject }, 'seen by a handler') });
  export default {
    workspaces: [{ name: 'acme', baseUrl: process.env.CRM, token: 'sandbox', todos: { watch: false }, lists: {
      organization: { enabled: false }, memo: { enabled: false }, todo: { enabled: false },
      history: { enabled: false }, activity: { enabled: false },
    } }],
    redis: { prefix: process.env.PREFIX },
    http: { enabled: false },
    subscriptions: process.env.JSON_LINES === '1' ? [ndjson({ name: 'out' })] : [log],
  };`;
const EVENT = /^\d\d:\d\d:\d\d {2}person (created|updated|deleted) /;

describe('start: what a person sees', () => {
  const cli = useCli();
  const redis = useRedis();

  async function folderOf(sandbox: Sandbox, jsonLines: boolean) {
    onTestFinished(() => sandbox.stop());
    const { url } = await sandbox.start();
    const env = { REDIS_URL: redis.url, PREFIX: redis.keys.prefix, CRM: url, JSON_LINES: jsonLines ? '1' : '' };
    return { folder: await cli({ 'changefeed.config.mjs': CONFIG }), env };
  }

  const linesOf = ({ stdout }: TestProcess): string[] =>
    stripVTControlCharacters(stdout)
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');

  it.skipIf(!hasTerminal).each([
    ['without a subscription that prints', false],
    ['with a subscription that prints JSON', true],
  ])('start: on a terminal, says what happens next and shows events as lines, %s', async (_what, jsonLines) => {
    const sandbox = createSandbox({ people: 30 });
    const { folder, env } = await folderOf(sandbox, jsonLines);
    const service = folder.start(['start'], env, { columns: 80 });
    await service.waitForLine(/Baseline complete: 30 records in 1 list are known now\./);
    sandbox.rate = 20;
    await eventually(() => expect(linesOf(service).filter((line) => EVENT.test(line)).length).toBeGreaterThan(3));
    if (!jsonLines) await service.waitForLine(/seen by a handler/);
    const lines = linesOf(service);
    expect(lines.filter((line) => EVENT.test(line) && widthOf(line) > 80)).toEqual([]);
    expect(lines.filter((line) => line.startsWith('{') || line.includes('sweep complete'))).toEqual([]);
  });

  it('start: in a pipe, standard output has only what handlers write', async () => {
    const sandbox = createSandbox({ people: 30 });
    const { folder, env } = await folderOf(sandbox, true);
    const service = folder.start(['start'], env);
    await service.waitForLine(/"mode":"baseline"/);
    sandbox.rate = 20;
    await eventually(() => expect(service.stdout.split('\n').length).toBeGreaterThan(3));
    for (const line of service.stdout.trimEnd().split('\n').slice(0, 3))
      expect((JSON.parse(line) as ChangeEvent).type).toMatch(/^crm\.person\./);
    expect(service.stderr).not.toContain('Baseline complete');
  });
});
