/**
 * A file of rules that says nothing: gone, with its folder, empty, or unreadable. It has no rules only where none was ever there, or a person has
 * decided so. Redis knows what was there, also for a process that starts without the file.
 */
import { z } from 'zod';
import { knownTo, parseRules, readOrNothing, saysNothing, type RulesFile } from '../config/rules.js';
import { isoTime } from '../kit/clock.js';
import type { ProcessStatus } from '../redis/process-registry.js';
import { readJson } from '../redis/stored.js';
import type { AppContext } from '../../workers/context.js';

export type MissingRules = NonNullable<ProcessStatus['rulesMissing']>;

const NOTED_EVERY_MS = 60_000;

/** What ran goes on until a person decides. */
export function createAbsence(context: AppContext) {
  const { config, log, clock } = context;
  let missing: MissingRules | null = null;
  let noted = { revision: '', atMs: Number.NEGATIVE_INFINITY };
  const find = async (file: RulesFile): Promise<MissingRules | null> => {
    if (!saysNothing(file)) {
      if (file.revision === noted.revision && clock.monotonic() - noted.atMs < NOTED_EVERY_MS) return null;
      const { rules, problems } = parseRules(file, knownTo(config));
      if (problems.length === 0) await noteRules({ rules: rules.length, revision: file.revision }, context);
      noted = { revision: file.revision, atMs: clock.monotonic() };
      return null;
    }
    const record = await readRulesRecord(context);
    const rules = config.rules?.all.length ?? 0;
    const known = rules > 0 ? rules : (record?.rules ?? 0);
    if (known === 0 || record?.forgotten === true) return null;
    if (missing !== null) return missing;
    const since = rules > 0 || record === null ? isoTime(clock.now()) : record.at;
    return { rules: known, since, file: file.source, run: rules > 0 };
  };
  return {
    now: (): MissingRules | null => missing,
    async look(file: RulesFile | null): Promise<MissingRules | null> {
      if (file === null) return null;
      const found = await find(file);
      if (found !== null && missing === null) log.error(found, found.run ? GONE : BEGAN_WITHOUT);
      if (found === null && missing !== null) log.info({ file: file.source }, 'the file of rules is no longer missing');
      return (missing = found);
    },
  };
}

const GONE = 'the file of rules is gone, empty or unreadable: it was not applied, and the rules that ran go on';
const BEGAN_WITHOUT = 'the file of rules is gone, empty or unreadable: none of the rules that ran before run now';

const rulesRecord = z.object({
  /** In the file, those that are switched off among them. */
  rules: z.number().int(),
  revision: z.string(),
  /** When a process had it last. */
  at: z.iso.datetime(),
  /** A person has decided that they are gone. */
  forgotten: z.boolean(),
});
type RulesRecord = z.output<typeof rulesRecord>;

type Deps = Pick<AppContext, 'redis' | 'keys' | 'clock'>;

export async function readRulesRecord({ redis, keys }: Deps): Promise<RulesRecord | null> {
  const json = await redis.get(keys.rules());
  return json === null
    ? null
    : readJson(rulesRecord, json, { what: 'what was last known of the rules', key: keys.rules() });
}

async function noteRules(found: { rules: number; revision: string }, deps: Deps): Promise<void> {
  const { rules, revision } = found;
  const record: RulesRecord = { rules, revision, at: isoTime(deps.clock.now()), forgotten: false };
  await deps.redis.set(deps.keys.rules(), JSON.stringify(record));
}

/**
 * Each process that misses them applies that there are none.
 * @param missing how many processes miss; null: none runs
 * @returns how many there were; 0: none are missing
 */
export async function forgetMissingRules(
  missing: () => Promise<number | null>,
  context: AppContext,
): Promise<{ count: number }> {
  const record = await readRulesRecord(context);
  const file = readOrNothing(context.config);
  const isHere = file !== null && !saysNothing(file);
  const stored = record === null || record.forgotten || isHere ? 0 : record.rules;
  const count = (await missing()) ?? stored;
  if (count === 0) return { count };
  const forgotten: RulesRecord = {
    revision: '',
    ...record,
    rules: 0,
    at: isoTime(context.clock.now()),
    forgotten: true,
  };
  await context.redis.set(context.keys.rules(), JSON.stringify(forgotten));
  return { count };
}
