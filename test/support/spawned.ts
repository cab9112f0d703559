/** A script run by node as a separate process, with its output. Does not import vitest. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { eventually } from './eventually.js';
import { child as childScript } from './program.js';

export interface SpawnOptions {
  args?: readonly string[];
  /** Added to this process's environment; undefined takes a variable away. */
  env?: Readonly<Record<string, string | undefined>>;
  cwd?: string;
  /** Another program that runs the script. @defaultValue node, with tsx if it is TypeScript and there is no current build */
  program?: string;
  /** Runs it on a terminal (`script` of util-linux), to which this is typed. Both of its outputs are then `stdout`. */
  terminal?: { columns: number; typed?: string };
}

/** Linux has it; the `script` of other systems takes other arguments. */
export const hasTerminal = process.platform === 'linux' && existsSync('/usr/bin/script');

export interface ExitOutcome {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface TestProcess {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly exited: Promise<ExitOutcome>;
  /** The first line, of standard output or error, that matches; fails when the process ends or time is up without one. */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<string>;
  kill(signal?: NodeJS.Signals): Promise<ExitOutcome>;
}

/** For `--import`: node then runs TypeScript. */
export const tsxLoader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;

export function startProcess(
  script: string | URL,
  { args = [], env = {}, cwd, program, terminal }: SpawnOptions = {},
): TestProcess {
  const given = script instanceof URL ? fileURLToPath(script) : script;
  const entry = given.endsWith('.ts') ? childScript(given) : given;
  const node = [process.execPath, ...(entry.endsWith('.ts') ? ['--import', tsxLoader] : [])];
  const plain = [...(program === undefined ? node : [program]), entry, ...args];
  const [command = '', ...rest] = terminal === undefined ? plain : onTerminal(plain, terminal.columns);
  const child = spawn(command, rest, {
    cwd,
    // As if npm had not started it, which it watches.
    env: { ...process.env, npm_execpath: undefined, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A terminal stays open; without one there is nothing to read.
  if (terminal === undefined) child.stdin.end();
  else child.stdin.write(terminal.typed ?? '');
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

function onTerminal(command: readonly string[], columns: number): string[] {
  const quoted = command.map((part) => `'${part.replaceAll("'", `'\\''`)}'`).join(' ');
  return ['/usr/bin/script', '-qefc', `stty cols ${columns}; exec ${quoted}`, '/dev/null'];
}

interface Output {
  stdout: string;
  stderr: string;
}

function collect(child: ChildProcessByStdio<Writable, Readable, Readable>): Output {
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
