#!/usr/bin/env node
/** The entry point of the command `changefeed`. */
import { runProcess } from './run-process.js';

await runProcess(process.argv.slice(2));
