/** Without a safeguard, histories fail: each control is a run of its own, because its modules are loaded without the safeguard. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { CONTROLS } from './controls.js';

/** Half of them are in the other file. */
const RUNS = '1000';
const PATIENCE_MS = 3_600_000;

it.each(Object.keys(CONTROLS))(
  'copy: histories fail where %s (control)',
  async (name) => {
    const env = { ...process.env, COPY_WITHOUT: name, COPY_RUNS: RUNS };
    const args = ['vitest', 'run', 'test/copy/first.test.ts', '-t', 'random histories'];
    const run = spawn('npx', args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    const said = await text(run.stdout);
    expect(said).toContain('violations');
  },
  PATIENCE_MS,
);
