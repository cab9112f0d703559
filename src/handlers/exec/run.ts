/** Runs one program to its end: input in, exit code and the end of its words out. Knows nothing of events. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Clock } from '../../runtime/clock.js';
import { endGroup } from './group.js';
import { Tail } from './tail.js';

export interface Command {
  command: string;
  args: readonly string[];
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  /** Given on standard input, which is then closed. */
  input: string;
}

export interface RunOptions {
  /** Ends the program and all it started. */
  signal: AbortSignal;
  /** Between SIGTERM and SIGKILL, in ms. */
  killAfterMs: number;
  clock: Clock;
}

export interface Ending {
  /** Null when a signal ended it. */
  code: number | null;
  killedBy: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

// What the program left running may hold its output open for ever; what it said itself has arrived long before.
const DRAIN_MS = 250;

/** @throws the system's own error when the program could not be started */
export async function runCommand(command: Command, options: RunOptions): Promise<Ending> {
  const child = spawn(command.command, command.args, {
    cwd: command.cwd,
    env: command.env,
    stdio: 'pipe',
    // A group of its own, so that all of it can be ended; and Ctrl-C at our terminal does not reach it before us.
    detached: true,
    windowsHide: true,
  });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const closed = once(child, 'close');
  // Whoever is not waited for below must not end this process when it fails.
  closed.catch(() => undefined);
  const output = { stdout: new Tail(), stderr: new Tail() };
  child.stdout.on('data', (part: Buffer) => output.stdout.add(part));
  child.stderr.on('data', (part: Buffer) => output.stderr.add(part));
  // A program may end well without reading all of its input, or any: its exit code is what counts.
  child.stdin.on('error', () => undefined);
  child.stdin.end(command.input);
  const [code, killedBy] = await untilExit(child, exited, options);
  await drained(closed, options.clock);
  child.stdout.destroy();
  child.stderr.destroy();
  return { code, killedBy, stdout: output.stdout.text(), stderr: output.stderr.text() };
}

async function untilExit<Exit>(
  child: ChildProcessWithoutNullStreams,
  exited: Promise<Exit>,
  { signal, killAfterMs: graceMs, clock }: RunOptions,
): Promise<Exit> {
  const { pid } = child;
  // Not started: `exited` fails with the reason.
  if (pid === undefined) return exited;
  let ending: Promise<void> | undefined;
  const end = (): void => {
    ending ??= endGroup(pid, { graceMs, clock });
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  try {
    return await exited;
  } finally {
    signal.removeEventListener('abort', end);
    // The program has gone; what it started may need the rest of the grace.
    await ending;
  }
}

async function drained(closed: Promise<unknown>, clock: Clock): Promise<void> {
  const done = new AbortController();
  await Promise.race([closed.catch(() => undefined), clock.sleep(DRAIN_MS, done.signal).catch(() => undefined)]);
  done.abort();
}
