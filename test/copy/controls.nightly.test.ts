/** Without a safeguard, histories fail: each control is a run of its own, because its modules are loaded without the safeguard. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { CONTROLS } from './controls.js';

const PATIENCE_MS = 600_000;

it.each(Object.keys(CONTROLS))(
  'copy: histories fail where %s (control)',
  async (name) => {
    const env = { ...process.env, COPY_WITHOUT: name, FORCE_COLOR: '0', NO_COLOR: '1' };
    // Those that failed in the past: one of them needs each safeguard.
    const args = ['vitest', 'run', 'test/copy/first.test.ts', '--mode', 'gate'];
    const run = spawn('npx', args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const said = await text(run.stdout);
    expect(said).toMatch(/× .*copy: /u);
  },
  PATIENCE_MS,
);
