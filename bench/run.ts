/**
 * Runs one benchmark: `npm run bench -- <name> [--records 20000] [--turns 5] [--warm-up 3] [--with name=value] [--out file]`. The last line of standard
 * output is one JSON object. Exit code 0 also if a goal is not met: the machine may be busy.
 */
import { appendFile } from 'node:fs/promises';
import { absence } from './absence.js';
import { assistant } from './assistant.js';
import { baseline } from './baseline.js';
import { budget } from './budget.js';
import { changed } from './changed.js';
import { delayPerRequest } from './delay-per-request.js';
import { filesOfAnEdit } from './files-of-an-edit.js';
import { freshness } from './freshness.js';
import { growth } from './growth.js';
import { history } from './history.js';
import { latency } from './latency.js';
import { many } from './many.js';
import { memory } from './memory.js';
import { dayOverview } from './overview.js';
import { parseFlags, resultOf, type Bench } from './support/bench.js';
import { pulled } from './pull.js';
import { receipts } from './receipts.js';
import { rules } from './rules.js';
import { scaling } from './scaling.js';
import { snapshot } from './snapshot.js';
import { tryPreview } from './try.js';
import { unchanged } from './unchanged.js';
import { verify } from './verify.js';
import { workspaces } from './workspaces.js';

const BENCHES: readonly Bench[] = [
  ...[unchanged, changed, baseline, growth, memory],
  ...[
    snapshot,
    latency,
    budget,
    freshness,
    delayPerRequest,
    workspaces,
    many,
    scaling,
    filesOfAnEdit,
    history,
    dayOverview,
    absence,
    receipts,
    rules,
    tryPreview,
    verify,
    assistant,
    pulled,
  ],
];
/** Older benchmarks with positional arguments, which print a JSON object of their own form. */
const SCRIPTS: Readonly<Record<string, () => Promise<unknown>>> = {
  fanout: () => import('./fanout.js'),
  isolation: () => import('./isolation.js'),
};

async function main([name = '', ...args]: string[]): Promise<void> {
  const script = SCRIPTS[name];
  if (script !== undefined) {
    process.argv = [...process.argv.slice(0, 2), ...args];
    await script();
    return;
  }
  const bench = BENCHES.find((one) => one.name === name);
  if (bench === undefined) throw new Error(`There is no benchmark "${name}". Choose one of:\n${overview()}`);
  const flags = parseFlags(args, bench);
  const line = JSON.stringify(resultOf(name, await bench.run(flags)));
  if (flags.out !== undefined) await appendFile(flags.out, `${line}\n`);
  console.log(line);
}

function overview(): string {
  const lines = BENCHES.map(({ name, does }) => `  ${name.padEnd(18)} ${does}`);
  return [...lines, ...Object.keys(SCRIPTS).map((name) => `  ${name.padEnd(18)} (bench/${name}.ts)`)].join('\n');
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof Error && process.env['LOG_LEVEL'] !== 'debug' ? error.message : error);
  process.exitCode = 2;
}
