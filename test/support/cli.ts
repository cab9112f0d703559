/** The command line in a folder of its own, for tests: as a process, or in this one. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runCli } from '../../src/cli/program.js';
import type { Io } from '../../src/cli/io.js';
import { escapeInvisible } from '../../src/kit/printable.js';
import { quietIo } from './cli-page.js';
import { useProcesses, type SpawnOptions, type TestProcess } from './process.js';
import { program } from './program.js';

const MAIN = program('src/cli/main');

/** Variables of the test's own environment that must not reach the command. */
const FOREIGN = [
  'REDIS_URL',
  'CHANGEFEED_BASE_URL',
  'CHANGEFEED_TOKEN',
  'CHANGEFEED_CONFIG',
  'LOG_LEVEL',
  'FORCE_COLOR',
  'LANG',
  'LC_ALL',
  'LC_MESSAGES',
];
const CLEAN = Object.fromEntries(FOREIGN.map((name) => [name, undefined]));

export interface CliRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface CliFolder {
  cwd: string;
  start(
    args: readonly string[],
    env?: Readonly<Record<string, string | undefined>>,
    terminal?: SpawnOptions['terminal'],
  ): TestProcess;
  /**
   * Runs it in this process, which takes milliseconds. What a handler or the log writes is not in its output, and it is not stopped
   * by a signal.
   */
  call(args: readonly string[], env?: Readonly<Record<string, string>>, io?: Partial<Io>): Promise<CliRun>;
  run(
    args: readonly string[],
    env?: Readonly<Record<string, string | undefined>>,
    terminal?: SpawnOptions['terminal'],
  ): Promise<CliRun>;
}

/** Call it once at the top of a file. Returns a function that creates a folder with these files, removed after the test. */
export function useCli(): (files?: Readonly<Record<string, string | object>>) => Promise<CliFolder> {
  const spawn = useProcesses();
  return async (files = {}) => {
    const cwd = await mkdtemp(join(tmpdir(), 'changefeed-cli-'));
    onTestFinished(() => rm(cwd, { recursive: true, force: true }));
    for (const [name, content] of Object.entries(files)) {
      await writeFile(join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content));
    }
    const start: CliFolder['start'] = (args, env = {}, terminal) =>
      spawn(MAIN, {
        args,
        cwd,
        env: { ...CLEAN, CHANGEFEED_STATE_DIR: join(cwd, 'state'), ...env },
        ...(terminal && { terminal }),
      });
    return {
      cwd,
      start,
      async call(args, env = {}, io = {}) {
        const written = { stdout: '', stderr: '' };
        const writes = (stream: keyof typeof written) => (text: string) =>
          void (written[stream] += `${escapeInvisible(text)}\n`);
        const given = { PATH: process.env['PATH'], CHANGEFEED_STATE_DIR: join(cwd, 'state'), ...env };
        const code = await runCli(args, {
          ...quietIo,
          cwd,
          env: given,
          out: writes('stdout'),
          write: (text) => Promise.resolve(void (written.stdout += text)),
          err: writes('stderr'),
          ...io,
        });
        return { code, ...written };
      },
      async run(args, env, terminal) {
        const process = start(args, env, terminal);
        const { code } = await process.exited;
        return { code, stdout: process.stdout, stderr: process.stderr };
      },
    };
  };
}

/** No stack trace or colour may appear in output that is not a terminal. */
export const STACK_OR_COLOUR = /\n\s+at .+:\d+|node:internal|\u001b\[/;
