/** One command line as a process: runs it, sets the exit code and ends. */
import { processIo } from './io.js';
import { runCli } from './program.js';

export async function runProcess(args: readonly string[]): Promise<void> {
  const code = await runCli(args, processIo());
  // An uncaught error has already set its own code.
  process.exitCode ||= code;
  // A socket or timer that a handler left open must not keep a finished command alive. Output is flushed first.
  process.stdout.write('', () => process.exit());
}
