/** Runs one program: input in, exit code and the end of its output out. Does not know events. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { withinTime, type Clock } from '../../runtime/clock.js';
import { onAbort } from '../../runtime/on-abort.js';
import { printable } from '../../runtime/printable.js';

export interface RunOptions {
  command: string;
  args: readonly string[];
  cwd: string | undefined;
  env: NodeJS.ProcessEnv;
  input: string;
  /** Stops the program and its children. */
  signal: AbortSignal;
  /** Between SIGTERM and SIGKILL, in ms. */
  killAfterMs: number;
  clock: Clock;
}

/** `code` is null if a signal ended it. */
export type Ending = Awaited<ReturnType<typeof runCommand>>;

// A child that the program left running may keep the output open. The program's own output arrives long before this time.
const DRAIN_MS = 250;
// The system does not report when a process group has ended, so it is polled.
const POLL_MS = 25;

/** @throws the system's error if the program could not be started */
export async function runCommand({ command, args, cwd, env, input, ...options }: RunOptions) {
  // A process group of its own (`detached`): it can be stopped as a whole, and Ctrl-C on our terminal does not reach it directly.
  const child = spawn(command, args, { cwd, env, stdio: 'pipe', detached: true, windowsHide: true });
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  // A rejection that is not awaited must not end this process.
  const closed = once(child, 'close').catch(() => undefined);
  const output = { stdout: new Tail(), stderr: new Tail() };
  child.stdout.on('data', (part: Buffer) => output.stdout.add(part));
  child.stderr.on('data', (part: Buffer) => output.stderr.add(part));
  // A program may succeed without reading its input: its exit code decides.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  // Without one it did not start: `exited` rejects with the reason.
  const { pid } = child;
  const [code, killedBy] = await (pid === undefined ? exited : untilExit(pid, exited, options));
  await withinTime(closed, DRAIN_MS, { clock: options.clock });
  child.stdout.destroy();
  child.stderr.destroy();
  return { code, killedBy, stdout: output.stdout.text(), stderr: output.stderr.text() };
}

type StopOptions = Pick<RunOptions, 'signal' | 'killAfterMs' | 'clock'>;

/** The process groups of the programs that run now. */
const running = new Set<number>();
let isWatched = false;

/**
 * A stop that could not wait ends this process first. Its event then goes to another process, and the program must not still be working
 * on it.
 */
function endWithThisProcess(pid: number): void {
  running.add(pid);
  if (!isWatched) process.once('exit', () => running.forEach((group) => signalGroup(group, 'SIGKILL')));
  isWatched = true;
}

async function untilExit<Exit>(pid: number, exited: Promise<Exit>, options: StopOptions): Promise<Exit> {
  const { signal } = options;
  endWithThisProcess(pid);
  let ending: Promise<void> | undefined;
  const end = (): void => void (ending ??= endGroup(pid, options));
  if (signal.aborted) end();
  const forget = onAbort(signal, end);
  try {
    return await exited;
  } finally {
    forget();
    // The program has ended; its children may need the rest of the grace period.
    await ending;
    running.delete(pid);
  }
}

/** Stops a program together with its children, the group that `detached` creates: SIGTERM, and SIGKILL for what has not stopped within the grace period. */
async function endGroup(pid: number, { killAfterMs, clock }: StopOptions): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  const deadline = clock.now() + killAfterMs;
  while (clock.now() < deadline) {
    if (!signalGroup(pid, 0)) return;
    await clock.sleep(POLL_MS);
  }
  signalGroup(pid, 'SIGKILL');
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    // Windows has no process groups: only the program itself gets the signal.
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** In bytes; enough for the part that is shown, in any script. */
const KEPT_BYTES = 4_096;
/** In characters. */
const SHOWN_LENGTH = 300;

/** The end of a program's output, which usually says why it failed. Bounded in size. */
class Tail {
  #kept = Buffer.alloc(0);
  #isCut = false;

  add(part: Buffer): void {
    const all = Buffer.concat([this.#kept, part]);
    this.#isCut ||= all.length > KEPT_BYTES;
    // A copy: a slice would keep the whole buffer in memory.
    this.#kept = Buffer.from(all.subarray(-KEPT_BYTES));
  }

  /** One line, without control characters, at most 300 characters. */
  text(): string {
    // A cut in the middle of a character leaves up to three bytes of it.
    const text = this.#kept.toString('utf8').replace(/^\ufffd+/, '');
    const line = printable(text.replace(/\u001b\[[\d;]*[A-Za-z]/g, '')).trim();
    const characters = Array.from(line);
    if (characters.length <= SHOWN_LENGTH && !this.#isCut) return line;
    return `…${characters.slice(-(SHOWN_LENGTH - 1)).join('')}`;
  }
}
