#!/usr/bin/env node
/** The command `changefeed`: arguments in, exit code out. Everything else is in the commands. */
import { processIo } from './io.js';
import { runCli } from './program.js';

const code = await runCli(process.argv.slice(2), processIo());
// What broke outside of the command has set its own code already.
process.exitCode ||= code;
// Whatever a handler left open (a socket, a timer) must not keep a finished command alive; output is flushed first.
process.stdout.write('', () => process.exit());
