import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIST_NAMES, type BuiltInList } from '../../../src/crm/lists/lists.js';
import { listOf } from '../../../src/events/envelope.js';
import type { ChangeEvent } from '../../../src/events/types.js';
import type { Sandbox } from '../../../src/sandbox/sandbox.js';
import { useChain, type Chain } from '../../support/chain.js';
import { useCli, type CliFolder } from '../../support/cli.js';
import { eventually } from '../../support/eventually.js';
import { useRedis } from '../../support/redis.js';
import { readEverything } from '../../support/api-state.js';

/** Thousands of events pass through processes: on a busy machine that takes minutes. */
const PATIENT = { timeoutMs: 300_000 };
const CONFIG = 'changefeed.config.json';
/** A timestamp that moves alone is not a change. */
const STAMPS = ['수정 날짜', 'updatedAt'];

describe('snapshot: a subscription added to a running service', () => {
  const redis = useRedis();
  const chain = useChain();
  const cli = useCli();

  const configOf = (world: Chain, subscriptions: readonly object[]): object => {
    const lists = Object.fromEntries(LIST_NAMES.map((list) => [list, { interval: '1s' }]));
    const budget = { requests: 10_000, perSeconds: 1 };
    const workspace = { name: 'acme', baseUrl: world.url, token: world.token, budget, lists };
    return { workspaces: [workspace], subscriptions, redis: { prefix: redis.keys.prefix } };
  };
  const toFile = (name: string, more: object = {}): object => ({
    handler: 'ndjson',
    name,
    path: `${name}.ndjson`,
    ...more,
  });
  const run = (folder: CliFolder) => folder.start(['start'], { REDIS_URL: redis.url, LOG_LEVEL: 'info' });

  it(
    'snapshot: delivers every record and then every change of the journal, although processes are killed',
    { timeout: 240_000 },
    async () => {
      const world = await chain({ sandbox: { people: 250, seed: 21, rate: 5, journalKeep: 100_000 } });
      const folder = await cli({ [CONFIG]: configOf(world, [toFile('all', { start: 'beginning' })]) });
      let service = run(folder);
      const linesOf = async (name: string) => (await writtenTo(folder, name)).split('\n').length - 1;
      await eventually(async () => expect(await linesOf('all')).toBeGreaterThan(30));

      // In the way many editors save: write another file, then rename it.
      const added = [toFile('all', { start: 'beginning' }), toFile('mirror', { start: 'snapshot', concurrency: 2 })];
      await writeFile(join(folder.cwd, 'next'), JSON.stringify(configOf(world, added)));
      await rename(join(folder.cwd, 'next'), join(folder.cwd, CONFIG));
      expect(await service.waitForLine(/configuration was reloaded/)).toContain('mirror');
      for (const wanted of [50, 500, 1_000]) {
        await eventually(async () => expect(await linesOf('mirror')).toBeGreaterThan(wanted), {
          ...PATIENT,
          intervalMs: 5,
        });
        await service.kill();
        service = run(folder);
      }

      const seen = await linesOf('mirror');
      await eventually(async () => expect(await linesOf('mirror')).toBeGreaterThan(seen + 100), PATIENT);
      world.sandbox.rate = 0;
      const shown = await readEverything(world);
      const reported = await eventually(
        async () => {
          const changesByRecord = eventsByRecord(await eventsIn(folder, 'mirror'));
          expect(wrongLastImages(changesByRecord, shown)).toEqual([]);
          return changesByRecord;
        },
        { ...PATIENT, intervalMs: 500 },
      );

      expect(wrongSequences(reported)).toEqual([]);
      expect(notInJournal(reported, world.sandbox)).toEqual([]);
      const late = [...reported.values()].filter(([first]) => (first?.data.sequence ?? 0) > 0);
      // Some records changed before the snapshot, and some after it, so the test did cross the boundary between the two.
      expect(late.length).toBeGreaterThan(5);
      expect([...reported.values()].filter((changes) => changes.length > 1).length).toBeGreaterThan(5);
      await service.kill('SIGTERM');
    },
  );
});

async function writtenTo(folder: CliFolder, name: string): Promise<string> {
  return await readFile(join(folder.cwd, `${name}.ndjson`), 'utf8').catch(() => '');
}

/** Complete lines only: a line that a kill cut off is no event, and is delivered again. */
async function eventsIn(folder: CliFolder, name: string): Promise<ChangeEvent[]> {
  const text = await writtenTo(folder, name);
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as ChangeEvent];
    } catch {
      return [];
    }
  });
}

/** The events of each record in order of first arrival, without derived events and events of the clock. */
function eventsByRecord(events: readonly ChangeEvent[]): Map<string, ChangeEvent[]> {
  const known = new Set<string>();
  const changesByRecord = new Map<string, ChangeEvent[]>();
  for (const event of events) {
    if (known.has(event.id) || event.data.derivedFrom !== undefined || event.data.detectedBy === 'clock') continue;
    known.add(event.id);
    const key = `${listOf(event)} ${event.subject}`;
    changesByRecord.set(key, [...(changesByRecord.get(key) ?? []), event]);
  }
  return changesByRecord;
}

/** Records whose last event does not have their current image. */
function wrongLastImages(
  changesByRecord: ReadonlyMap<string, readonly ChangeEvent[]>,
  shown: Record<BuiltInList, Map<string, object>>,
): string[] {
  const keys = LIST_NAMES.flatMap((list) => [...shown[list].keys()].map((id) => `${list} ${id}`));
  return keys.filter((key) => {
    const [list, id] = key.split(' ') as [BuiltInList, string];
    return textOf(changesByRecord.get(key)?.at(-1)?.data.after) !== textOf(shown[list].get(id));
  });
}

/** Records whose events do not start with a snapshot or creation, skip a sequence, or repeat one. */
function wrongSequences(changesByRecord: ReadonlyMap<string, readonly ChangeEvent[]>): object[] {
  return [...changesByRecord].flatMap(([key, changes]) => {
    const reported = changes.map(({ type, data }) => `${type.split('.')[2]} ${data.sequence}`);
    const from = changes[0]?.data.sequence ?? 0;
    const inOrder = changes.every(({ data }, index) => data.sequence === from + index);
    const begins = /^(snapshot \d+|created 1)$/.test(reported[0] ?? '');
    const once = changes.slice(1).every(({ type }) => !type.endsWith('.snapshot'));
    return inOrder && begins && once ? [] : [{ key, reported }];
  });
}

/** Records with an image that is not in the journal, or not in this order. */
function notInJournal(changesByRecord: ReadonlyMap<string, readonly ChangeEvent[]>, sandbox: Sandbox): string[] {
  const images = new Map<string, string[]>();
  for (const line of sandbox.journal.lines()) {
    if (line.line !== 'mutation') continue;
    const key = `${line.list} ${line.id}`;
    const known = images.get(key) ?? [textOf(line.before)];
    images.set(key, [...known, textOf(line.after)]);
  }
  return [...changesByRecord].flatMap(([key, changes]) => {
    const history = images.get(key);
    if (history === undefined) return [];
    let at = -1;
    const wrong = changes.some(({ data }) => {
      at = history.indexOf(textOf(data.after), at + 1);
      return at === -1;
    });
    return wrong ? [key] : [];
  });
}

function textOf(image: object | null | undefined): string {
  const entries = Object.entries(image ?? {}).filter(([field]) => !STAMPS.includes(field));
  return JSON.stringify(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
