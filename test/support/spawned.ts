/** A script run by node as a separate process, with its output. Does not import vitest. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { eventually } from './eventually.js';

export interface SpawnOptions {
  args?: readonly string[];
  /** Added to this process's environment; undefined takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Another program that runs the script. @defaultValue node, with tsx if it is TypeScript */
  program?: string;
}

export interface ExitOutcome {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface TestProcess {
  readonly pid: number;
  /** All output so far. */
  readonly stdout: string;
  readonly stderr: string;
  readonly exited: Promise<ExitOutcome>;
  /** The first line, of standard output or error, that matches; fails when the process ends or time is up without one. */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<string>;
  /** Sends the signal (default SIGKILL) and waits until the process has exited. */
  kill(signal?: NodeJS.Signals): Promise<ExitOutcome>;
}

const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

/** Starts the script with node, and tsx if it is TypeScript. The caller must end the process. */
export function startProcess(
  script: string | URL,
  { args = [], env = {}, cwd, program }: SpawnOptions = {},
): TestProcess {
  const entry = script instanceof URL ? fileURLToPath(script) : script;
  const node = [process.execPath, ...(entry.endsWith('.ts') ? ['--import', tsx] : [])];
  const [command = '', ...first] = program === undefined ? node : [program];
  const child = spawn(command, [...first, entry, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const exited = new Promise<ExitOutcome>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  let ended = false;
  void exited.then(() => (ended = true));
  return {
    pid: child.pid ?? -1,
    get stdout() {
      return output.stdout;
    },
    get stderr() {
      return output.stderr;
    },
    exited,
    waitForLine: (pattern, timeoutMs) => waitForLine(pattern, { output, hasEnded: () => ended, timeoutMs }),
    kill(signal = 'SIGKILL') {
      child.kill(signal);
      return exited;
    },
  };
}

interface Output {
  stdout: string;
  stderr: string;
}

function collect(child: ChildProcessByStdio<null, Readable, Readable>): Output {
  const output: Output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return output;
}

interface Waiting {
  output: Output;
  hasEnded: () => boolean;
  timeoutMs: number | undefined;
}

async function waitForLine(pattern: RegExp, { output, hasEnded, timeoutMs }: Waiting): Promise<string> {
  const found = await eventually(
    () => {
      const lines = `${output.stdout}\n${output.stderr}`.split('\n');
      const line = lines.find((one) => pattern.test(one));
      if (line !== undefined) return line;
      if (hasEnded()) return null;
      throw new Error(`no line matches ${String(pattern)} in:\n${output.stdout}\n${output.stderr}`);
    },
    timeoutMs === undefined ? {} : { timeoutMs },
  );
  if (found !== null) return found;
  throw new Error(`The process ended without a line like ${String(pattern)}:\n${output.stdout}\n${output.stderr}`);
}
