/** A configuration with something that was removed gets one sentence with what to use instead. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.js';
import { defineHandler } from '../../src/delivery/handlers/define.js';
import { testFolder } from '../support/folder.js';

async function complaintAbout(config: object | string): Promise<string> {
  const cwd = testFolder();
  const [name, text] =
    typeof config === 'string'
      ? ['changefeed.config.mjs', `import { ${calledIn(config)} } from 'crm-changefeed';\nexport default ${config};`]
      : ['changefeed.config.json', JSON.stringify(config)];
  writeFileSync(join(cwd, name), text);
  const loading = loadConfig({ cwd, env: {}, library: () => Promise.resolve({ defineHandler }) });
  return loading.then(
    () => 'It was loaded.',
    (error: unknown) => (error as Error).message,
  );
}

const calledIn = (code: string): string => /(\w+)\(/.exec(code)?.[1] ?? '';
const subscription = (options: object): object => ({ subscriptions: [{ name: 'a', ...options }] });

it.each<[what: string, config: object | string, instead: string]>([
  ['telemetry: { … }', { telemetry: { queues: true } }, 'telemetry: true'],
  ['the handler exec', subscription({ handler: 'exec', command: 'true' }), 'a function that calls execFile'],
  ['batch', subscription({ handler: 'ndjson', batch: {} }), 'concurrency'],
  ['BatchError', 'new BatchError()', 'handle'],
  ['handleBatch', `defineHandler({ name: 'a', handleBatch() {} })`, 'handle, with concurrency'],
  ['defineDerive', 'defineDerive()', 'where on the change'],
  ['derive', { derive: [] }, 'where on the change'],
  ['exec in code', 'exec()', 'a function that calls execFile'],
])('retired: %s is refused with what to use instead', async (_what, config, instead) => {
  expect(await complaintAbout(config)).toContain(`was removed; use ${instead}`);
});
