#!/usr/bin/env node
/** The command `changefeed`: runs one command line, sets the exit code and ends. */
import { processIo } from './io.js';
import { runCli } from './program.js';

const code = await runCli(process.argv.slice(2), processIo());
// An uncaught error has already set its own code.
process.exitCode ||= code;
// A socket or timer that a handler left open must not keep a finished command alive. Output is flushed first.
process.stdout.write('', () => process.exit());
