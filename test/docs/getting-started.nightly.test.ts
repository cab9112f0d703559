/** docs/getting-started.md as it is written: its files, run by its commands against its sandbox. Only the ports differ. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSandbox } from '../../sandbox/sandbox.js';
import { useCli } from '../support/cli.js';
import { codeBlocksOf, ROOT, type CodeBlock } from '../../.ci/docs/markdown.js';
import { useProcesses } from '../support/process.js';
import { startPrivateRedis } from '../support/redis.js';

const blocks = codeBlocksOf('docs/getting-started.md');
const HOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

function fileOf(name: string): CodeBlock {
  const found = blocks.find(({ file }) => file === name);
  if (found === undefined) throw new Error(`docs/getting-started.md has no file ${name}`);
  return found;
}

/** The page has the configuration once, and the first lines of CommonJS. */
function configurationAs(name: string): string {
  const { code } = fileOf('changefeed.config.ts');
  if (!name.endsWith('.js')) return code;
  const beginning = blocks.find((block) => block.code.includes('module.exports'))!.code;
  return code.replace(/^[^]*export default defineConfig\(\{\n/, beginning);
}

describe('getting started', () => {
  const folder = useCli();
  const spawn = useProcesses();

  async function environment(): Promise<Record<string, string>> {
    const sandbox = createSandbox({ people: 20, rate: 10, limit: null });
    onTestFinished(() => sandbox.stop());
    const [{ url }, redis] = await Promise.all([sandbox.start(), startPrivateRedis()]);
    return { CRM_URL: url, REDIS_URL: redis.url, HOOK_SECRET };
  }

  it.each(['changefeed.config.ts', 'changefeed.config.mjs', 'changefeed.config.js'])(
    'getting started: the handler in %s prints changes',
    { timeout: 240_000 },
    async (name) => {
      const env = await environment();
      const installed = await folder({ 'package.json': {}, [name]: configurationAs(name) });
      const process = installed.start(['start'], env);
      await process.waitForLine(/^(done|changed): \S/, 200_000);
      await process.kill('SIGTERM');
    },
  );

  it(
    'getting started: listen posts the changes to the receiver of the guide, which verifies them',
    { timeout: 240_000 },
    async () => {
      const env = await environment();
      const { code } = codeBlocksOf('docs/guides/webhook.md').find(({ file }) => file === 'receiver.mjs')!;
      const configuration = configurationAs('changefeed.config.mjs');
      const files = { 'package.json': {}, 'receiver.mjs': onAnyPort(code), 'changefeed.config.mjs': configuration };
      const installed = await folder(files);
      const { cwd } = installed;
      await symlink(`${ROOT}node_modules`, join(cwd, 'node_modules'));
      const receiver = spawn(join(cwd, 'receiver.mjs'), { cwd, env });
      const url = `http://127.0.0.1:${(await receiver.waitForLine(/^listening/, 60_000)).split(' ').at(-1) ?? ''}/`;
      installed.start(['start'], env);
      installed.start(['listen', '--forward-to', url, '--secret', HOOK_SECRET, '--from-start'], env);
      await receiver.waitForLine(/^crm\.\w+\.\w+ \S+ \d+$/, 200_000);
      const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-id': 'x' } });
      expect(forged.status).toBe(401);
    },
  );
});

function onAnyPort(code: string): string {
  const any = code.replace(
    "server.listen(Number(process.env.PORT ?? 4050), '127.0.0.1', () => console.log('listening'))",
    "server.listen(0, '127.0.0.1', () => console.log('listening', server.address().port))",
  );
  expect(any).not.toBe(code);
  return any;
}
