/**
 * Compares a receiver's copy with what is stored of the lists that its subscription gets. Three reads, each in steps:
 *
 *   under way   what is on its way to the subscription (under-way.ts): it is no fault of the copy
 *   copy        each row is compared with the stored record; the ids are kept in 16 bytes each
 *   lists       what is stored and was not in the copy is missing
 *
 * Every record is counted once: as equal, on its way, wrong (behind, missing, extra), or with the reason for which it cannot be judged.
 * Nothing is written but the counts, and nothing is sent unless `repair` asks for it, after the last row was read.
 */
import { builtInLists, type ListName } from '../../crm/lists/lists.js';
import { usage } from '../../kit/errors.js';
import { isoTime } from '../../kit/clock.js';
import { readsWorkspace } from '../../events/pattern.js';
import type { RecordState } from '../../feed/store/list-states.js';
import { listsCovered } from '../act/snapshot.js';
import type { SubscriptionContext } from '../stores.js';
import { compareRecord, judgementOf, type Judgement } from './compare.js';
import { placeRow, refused, type GivenCopy, type PlacedRow } from './copy.js';
import { IdSet } from '../../kit/id-set.js';
import { repairRecords, type WrongRecord } from './repair.js';
import { readUnderWay, type UnderWay } from './under-way.js';
import {
  NO_COUNTS,
  summed,
  wrongIn,
  type CopyCounts,
  type Verified,
  type VerifiedList,
  type Wrong,
} from './verified.js';

/** What is compared, and whether what is wrong is sent again. */
export interface VerifyOptions {
  /** Only this workspace. @defaultValue all that the subscription reads */
  workspace?: string | undefined;
  /** Sends the records that are wrong again. @defaultValue false */
  repair?: boolean | undefined;
  /** Ends the comparison, with an error. */
  signal?: AbortSignal | undefined;
  /** Called after each step with the number of rows and records compared so far. */
  onProgress?: ((compared: number) => void) | undefined;
}

const STEP = 1_000;
const EXAMPLES = 20;

/** @param given @defaultValue what the handler has written to can be read. @throws ChangefeedError CF_USAGE, CF_DATABASE_FAILED */
export async function verifyCopy(
  given: GivenCopy | undefined,
  options: VerifyOptions,
  deps: SubscriptionContext,
): Promise<Verified> {
  const { subscription, workspaces, clock, verified } = deps;
  refuseUnverifiable(given, options, deps);
  const wanted = workspaces.filter(
    (name) => readsWorkspace(subscription, name) && (options.workspace ?? name) === name,
  );
  const [beganMs, startedMs] = [clock.now(), clock.monotonic()];
  const run = new Comparing({ given, options, deps, asOfMs: given?.asOfMs ?? beganMs });
  await run.begin(wanted);
  for await (const rows of ahead(steps(given === undefined ? run.written() : run.placed(given))))
    await run.compare(rows);
  await run.findMissing();
  const { lists, examples } = run;
  const [at, copy] = [isoTime(beganMs), given?.from ?? ('tables' as const)];
  for (const workspace of wanted) {
    const counts = summed(lists.filter((one) => one.workspace === workspace));
    await verified.keep(subscription.name, workspace, { at, copy, ...counts });
  }
  const wrong = wrongIn(summed(lists));
  const ms = Math.round(clock.monotonic() - startedMs);
  const repaired = options.repair === true ? await run.repair() : null;
  return { subscription: subscription.name, copy, at, ms, wrong, lists, examples, repaired };
}

function refuseUnverifiable(
  given: GivenCopy | undefined,
  { workspace, repair }: VerifyOptions,
  { subscription, workspaces }: SubscriptionContext,
): void {
  const { name, handler, digest, report, copy, pull } = subscription;
  if (workspace !== undefined && !workspaces.includes(workspace))
    throw usage(`verify: there is no workspace "${workspace}". Known: ${workspaces.join(', ')}.`);
  if (digest !== undefined || report !== undefined)
    throw usage(
      `verify: the subscription "${name}" gets ${report ? 'reports' : 'digests'}: it has no copy of records.`,
    );
  if (repair === true && pull !== undefined)
    throw usage(`verify: nothing is sent to the consumer "${name}"; set it back: changefeed replay.`);
  if (given === undefined && copy === undefined)
    throw usage(
      `verify: what "${name}" (${handler}) has delivered cannot be read. Give its copy: --copy rows.csv with list, id, sequence, or feed.verify("${name}", rows) in a program.`,
    );
}

interface ComparedList {
  counts: VerifiedList;
  /** The ids of the copy. */
  seen: IdSet;
  /** New records that are held, among the counted ones. */
  heldNew: number;
  judges: Judgement;
  about: Awaited<ReturnType<SubscriptionContext['states']['about']>>;
}

class Comparing {
  readonly examples: Verified['examples'][number][] = [];
  /** By workspace. */
  readonly wrong = new Map<string, WrongRecord[]>();
  readonly #lists = new Map<string, ComparedList>();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #given: GivenCopy | undefined;
  readonly #options: VerifyOptions;
  readonly #deps: SubscriptionContext;
  readonly #asOfMs: number;
  #compared = 0;

  constructor(of: { given: GivenCopy | undefined; options: VerifyOptions; deps: SubscriptionContext; asOfMs: number }) {
    this.#given = of.given;
    this.#options = of.options;
    this.#deps = of.deps;
    this.#asOfMs = of.asOfMs;
  }

  get lists(): VerifiedList[] {
    return [...this.#lists.values()].map(({ counts }) => counts);
  }

  async begin(workspaces: readonly string[]): Promise<void> {
    const { subscription, states } = this.#deps;
    for (const workspace of workspaces) {
      this.#underWay.set(workspace, await readUnderWay({ workspace, asOfMs: this.#asOfMs }, this.#deps));
      for (const list of listsCovered(subscription))
        if ((await states.about(workspace, list)).is !== 'off') await this.#listOf(workspace, list);
    }
  }

  async #listOf(workspace: string, list: ListName): Promise<ComparedList> {
    const known = this.#lists.get(`${workspace} ${list}`);
    if (known !== undefined) return known;
    const { subscription, states } = this.#deps;
    const { catalogue = builtInLists, transform, lists } = subscription;
    const stored = await states.about(workspace, list);
    const about = lists?.includes(list) === false ? { ...stored, is: 'off' as const } : stored;
    const { object = list } = catalogue.byName(list) ?? {};
    const hasContents = this.#given === undefined && transform === undefined;
    const judges = judgementOf(subscription, { object, is: about.is, hasContents });
    const counts = { workspace, list, ...NO_COUNTS, because: judges.because };
    const made = { counts, seen: new IdSet(), heldNew: 0, judges, about };
    this.#lists.set(`${workspace} ${list}`, made);
    return made;
  }

  async *written(): AsyncGenerator<PlacedRow[]> {
    const { copy } = this.#deps.subscription;
    for (const { counts, about } of this.#lists.values()) {
      if (about.is !== 'ready' || copy === undefined) continue;
      const { workspace, list } = counts;
      const where = `the table of ${list}`;
      for await (const rows of copy.rows({ workspace, list }))
        yield rows.map(({ id, sequence, deleted }) => ({ where, workspace, list, id, sequence, deleted }));
    }
  }

  async *placed({ rows }: GivenCopy): AsyncGenerator<PlacedRow[]> {
    const { subscription } = this.#deps;
    const { catalogue = builtInLists } = subscription;
    const workspaces = [...this.#underWay.keys()];
    const known = { workspaces, lists: () => catalogue };
    for await (const step of rows) yield step.map((one) => placeRow(one, known));
  }

  /** Rows of any lists. */
  async compare(rows: readonly PlacedRow[]): Promise<void> {
    this.#options.signal?.throwIfAborted();
    for (const own of grouped(rows)) {
      const [{ workspace, list: name }] = own;
      const list = await this.#listOf(workspace, name);
      for (const { where, id } of own)
        if (!list.seen.add(id))
          throw refused(
            where,
            `the record ${JSON.stringify(id)} of ${name} is in the copy twice: give one row for each`,
          );
      if (list.about.is === 'ready') await this.#compareList(list, own);
      else list.counts.unjudged += own.length;
    }
    this.#report(rows.length);
  }

  async findMissing(): Promise<void> {
    for (const list of this.#lists.values()) {
      const { about, counts, seen } = list;
      const { workspace, list: name } = counts;
      if (about.is !== 'ready') continue;
      for await (const ids of ahead(this.#deps.states.ids(workspace, name))) {
        this.#options.signal?.throwIfAborted();
        const unseen = ids.filter((id) => seen.add(id));
        if (unseen.length > 0)
          await this.#compareList(
            list,
            unseen.map((id) => ({ id })),
          );
        this.#report(unseen.length);
      }
      // They are not stored. The status names them.
      counts.held += Math.max(0, about.heldCreations - list.heldNew);
      for (const id of about.unreadable) if (id === null || !seen.has(id)) counts.unreadable += 1;
    }
  }

  /** @returns how many records are sent again */
  async repair(): Promise<number> {
    let sent = 0;
    for (const [workspace, records] of this.wrong) {
      const underWay = this.#underWay.get(workspace);
      if (underWay === undefined) continue;
      sent += await repairRecords({ workspace, records, underWay, signal: this.#options.signal }, this.#deps);
    }
    return sent;
  }

  /** Most records are equal, which their heads say. Of the others the whole stored record is read. */
  async #compareList(list: ComparedList, rows: readonly (PlacedRow | { id: string })[]): Promise<void> {
    const { workspace, list: name } = list.counts;
    const { states } = this.#deps;
    const heads = await states.heads(workspace, name, idsOf(rows));
    const differing = rows.filter((row, index) => {
      const is = compareRecord(heldIn(row), heads[index] ?? null);
      if (is === 'equal') list.counts.equal += 1;
      return is !== 'equal' && is !== 'absent';
    });
    if (differing.length === 0) return;
    const stored = await states.read(workspace, name, idsOf(differing));
    // After the records: an event that is logged with what was read is found.
    await this.#underWay.get(workspace)?.goOn();
    const pairs = differing.map((row, index) => {
      const [held, state] = [heldIn(row), stored[index] ?? null];
      return { id: row.id, held, state, is: compareRecord(held, state) };
    });
    const same = await this.#sameContents(list, pairs);
    for (const pair of pairs) this.#count(list, same.has(pair.id) ? { ...pair, is: 'equal' } : pair);
  }

  /** Of records whose sequences differ. */
  async #sameContents({ counts: { workspace, list } }: ComparedList, pairs: readonly Compared[]): Promise<Set<string>> {
    const { states, subscription } = this.#deps;
    const differing = pairs.filter(({ is, state }) => is === 'differs' && state?.image != null);
    if (differing.length === 0 || subscription.transform !== undefined) return new Set();
    const ids = differing.map(({ id }) => id);
    const contents =
      this.#given === undefined ? await subscription.copy?.contents({ workspace, list, ids }) : undefined;
    const same = differing.filter(({ id, held, state }) => {
      const data = contents?.get(id) ?? held?.data;
      return data !== undefined && states.isSame({ workspace, list, id }, state?.image ?? '', data);
    });
    return new Set(same.map(({ id }) => id));
  }

  #count(list: ComparedList, compared: Compared): void {
    if (compared.is === 'absent') return;
    const found = this.#foundOf(list, compared);
    list.counts[found] += 1;
    if (found === 'held' && compared.state === null) list.heldNew += 1;
    if (found === 'behind' || found === 'missing' || found === 'extra') this.#note(list, found, compared);
  }

  #foundOf({ counts: { workspace, list }, judges, about }: ComparedList, compared: Compared): keyof CopyCounts {
    const { id, state, is } = compared;
    const underWay = this.#underWay.get(workspace);
    if (is === 'equal') return is;
    if (state?.isDiscarded === true && (is === 'extra' || is === 'missing')) return 'discarded';
    if (is === 'undecided') return about.heldRemovals > 0 ? 'held' : 'inFlight';
    if (underWay?.has(list, id) === true) return 'inFlight';
    if (underWay?.isDead(list, id) === true) return 'dead';
    if (underWay?.isDropped(state?.eventId) === true) return 'dropped';
    if (is === 'differs' && underWay?.isCancelled(state?.eventId) === true) return 'equal';
    if (is === 'extra' && state === null) {
      if (about.isErased(id)) return 'erased';
      if (about.unreadable.has(id) || about.unreadable.has(null)) return 'unreadable';
      // Held new records are not stored: it may be one of them, which the receiver has got before a loss.
      if (about.heldCreations > 0) return 'held';
    }
    if (is === 'differs') return judges.state ? 'behind' : 'unjudged';
    return judges.presence ? (is as Wrong) : 'unjudged';
  }

  #note(
    { counts: { workspace, list } }: ComparedList,
    found: Wrong,
    { id, held, state }: Pick<Compared, 'id' | 'held' | 'state'>,
  ): void {
    if (this.#options.repair === true) {
      const wrong = this.wrong.get(workspace) ?? [];
      this.wrong.set(workspace, wrong);
      wrong.push({ list, id, held: held?.sequence ?? null });
    }
    if (this.examples.length >= EXAMPLES) return;
    const title = this.#deps.states.titleOf(state?.image ?? null);
    const sequences = { copy: held?.sequence ?? null, feed: state?.sequence ?? null };
    this.examples.push({ workspace, list, id, title, found, ...sequences });
  }

  #report(more: number): void {
    this.#compared += more;
    this.#options.onProgress?.(this.#compared);
  }
}

interface Compared {
  id: string;
  held: PlacedRow | null;
  state: RecordState | null;
  is: ReturnType<typeof compareRecord>;
}

const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

/** Null for an id that the copy does not have. */
const heldIn = (row: PlacedRow | { id: string }): PlacedRow | null => ('sequence' in row ? row : null);

/** By list. */
function grouped(rows: readonly PlacedRow[]): (readonly [PlacedRow, ...PlacedRow[]])[] {
  const groups = new Map<string, [PlacedRow, ...PlacedRow[]]>();
  for (const row of rows) {
    const key = `${row.workspace} ${row.list}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

async function* steps(parts: AsyncIterable<readonly PlacedRow[]>): AsyncGenerator<PlacedRow[]> {
  let step: PlacedRow[] = [];
  for await (const part of parts) {
    for (const row of part) step.push(row);
    if (step.length < STEP) continue;
    yield step;
    step = [];
  }
  if (step.length > 0) yield step;
}

/** Each step is read while the one before it is compared. */
async function* ahead<Step>(read: AsyncGenerator<Step>): AsyncGenerator<Step> {
  let next = read.next();
  try {
    for (;;) {
      const step = await next;
      if (step.done === true) return;
      next = read.next();
      // It is thrown where the step is awaited. Without this it would end the process if the comparison fails before.
      next.catch(() => undefined);
      yield step.value;
    }
  } finally {
    await read.return(undefined);
  }
}
