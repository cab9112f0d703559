import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { useCli } from '../../support/cli.js';
import { useMirrors } from '../../support/mirror.js';
import { redisBinary } from '../../support/private-redis.js';
import { useProcesses } from '../../support/process.js';
import { rewind, rightOf, type Outcome, type RewindOptions } from './rewind.js';

const mirrors = await useMirrors();
const LONG = { timeout: 900_000 };

const ALONE = ['all'] as const;
const SEVERAL = [ALONE, ['all', 'all'], ['poll', 'poll', 'dispatch,handle']] as const;

const FAILOVERS = [500, 1_000, 2_000, 3_000, 6_000, 8_000, 12_000, 15_000, 20_000, 30_000];
const CUTS = [500, 800, 1_000, 1_500, 2_000, 3_000, 4_000, 6_000, 8_000, 12_000];
const BACKUPS = [2_000, 5_000, 10_000, 20_000, 30_000];

/** Every other run with processes that go on running, the rest with processes that are started afterwards. */
const runsOf = (loss: RewindOptions['loss'], times: readonly number[], seed: number): RewindOptions[] =>
  times.map((lostMs, index) => ({
    ...{ loss, lostMs, perSecond: 25, changes: 500 + lostMs / 40, seed: seed + index },
    processes: SEVERAL[(index >> 1) % SEVERAL.length] ?? ALONE,
    restarts: loss === 'backup' || index % 2 === 1 ? 'told' : 'none',
  }));

const RUNS = [...runsOf('failover', FAILOVERS, 100), ...runsOf('aof', CUTS, 200), ...runsOf('backup', BACKUPS, 300)];
const RESTARTED: RewindOptions = {
  ...{ loss: 'failover', lostMs: 4_000, perSecond: 40, changes: 300, seed: 7 },
  ...{ processes: ALONE, restarts: 'untold' },
};

describe.skipIf(redisBinary === undefined)('a Redis that forgets', () => {
  const cli = useCli();
  const spawn = useProcesses();

  const run = async (options: RewindOptions, deps: Partial<Parameters<typeof rewind>[1]> = {}): Promise<Outcome> => {
    const { outcome, measured } = await rewind(options, { cli, mirrors, ...deps });
    const { wrong } = outcome;
    const wrongs = Object.fromEntries(Object.entries(wrong).map(([receiver, records]) => [receiver, records.length]));
    // For the table in docs/internals/reliability.md.
    process.stdout.write(`${JSON.stringify({ ...options, ...outcome, ...measured, wrong: wrongs })}\n`);
    return outcome;
  };

  it.each(RUNS)(
    'rewound: after $loss ($lostMs ms, restarts: $restarts, $processes) every receiver ends up right',
    LONG,
    async (options) => {
      expect(await run(options)).toEqual(rightOf(options));
    },
  );

  it(
    'rewound: processes that were restarted use no sequence twice, also when nobody says that Redis went back',
    LONG,
    async () => {
      const { usedTwice, outOfOrder, invented, reported } = await run(RESTARTED);
      expect({ usedTwice, outOfOrder, invented, reported }).toEqual({
        ...{ usedTwice: [], outOfOrder: [], invented: 0, reported: 0 },
      });
    },
  );

  it(
    'rewound: where an epoch does not raise sequences, they are used twice and receivers stay wrong (control)',
    LONG,
    async () => {
      const entry = await buildWithoutEpochs();
      const { usedTwice, wrong } = await run(
        { ...RESTARTED, restarts: 'told' },
        {
          start: (cwd, args, env) =>
            spawn(entry, { args, cwd, env: { CHANGEFEED_STATE_DIR: join(cwd, 'state'), ...env } }),
        },
      );
      expect(usedTwice).not.toEqual([]);
      expect(wrong.highest).not.toEqual([]);
      expect(wrong.postgres).not.toEqual([]);
    },
  );
});

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** A copy of the build whose epochs begin with sequence 0. Returns its entry point. */
async function buildWithoutEpochs(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'changefeed-control-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const one of ['dist', 'package.json']) await cp(join(ROOT, one), join(folder, one), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, 'dist/src/events/envelope.js');
  const source = await readFile(file, 'utf8');
  expect(source).toContain('return epoch * STEP;');
  await writeFile(file, source.replace('return epoch * STEP;', 'return 0 * epoch;'));
  return join(folder, 'dist/src/cli/main.js');
}
