/**
 * One list under a lease: where it is, what it remembers from page to page, and the one way in which it writes.
 *
 *     waiting    until the next sweep is due: only shortcuts are read
 *     walking    page by page from the checkpoint, and shortcuts while the next page is awaited
 *     surveying  from the first page to the end, without a commit of the walk; the verdict begins another walk (survey.ts)
 *     finishing  every page is committed: removals and the summary follow (finish.ts)
 *
 * This file must not know HTTP or Redis.
 */
import type { ReadApi } from '../api/read-api.js';
import { createVisitedCursors, type VisitedCursors } from '../api/visited-cursors.js';
import type { ListName } from '../../crm/lists/lists.js';
import type { Observation } from '../detect/build-event.js';
import type { CreationRules } from '../detect/creation.js';
import type { Baseline } from '../detect/detect.js';
import { heldOf, type HeldExample } from '../detect/held.js';
import type { RemovalRules } from '../detect/removal.js';
import type { Rules } from '../detect/rules.js';
import { schemaFrom, TrackedFields, type SchemaTally } from '../detect/schema-drift/schema.js';
import type { DriftedField } from '../detect/schema-drift/drift.js';
import { NO_VERDICT, type Survey, type SurveyQuestion, type Verdict } from '../detect/survey.js';
import { eventsOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import { isoTime, type Clock } from '../../kit/clock.js';
import type { Log } from '../../kit/log.js';
import { isYounger } from '../../kit/stored-time.js';
import type { Unfinished } from '../../kit/unfinished.js';
import {
  NOT_RECOGNISED,
  noCounts,
  type Checkpoint,
  type CommitResult,
  type Membership,
  type Step,
  type StoredPage,
  type StoredSweep,
  type SweepCounts,
  type SweepSummary,
} from '../store/sweep-state.js';
import type { SweepStore } from '../store/sweep-store.js';
import type { Actors } from './actors.js';
import { leaseLost, stateLost } from './errors.js';
import type { Leased } from './lease.js';
import { createReadAhead, type PageToRead, type ReadAhead } from './read-ahead.js';
import type { Shortcuts } from './shortcuts/shortcuts.js';

export interface ListDeps {
  workspace: string;
  /** Normalised base URL of the API; a baseline is bound to it. @defaultValue not bound */
  source?: string | undefined;
  api: ReadApi;
  store: SweepStore;
  clock: Clock;
  log: Log;
  /** @defaultValue no event says who made a change */
  actors?: Actors | undefined;
  /** Names the commit under way to a stop that cannot wait for Redis. */
  unfinished?: Unfinished | undefined;
  /** Called with the events of each commit, which are in the log. */
  onEvents?: ((events: readonly ChangeEvent[]) => void) | undefined;
}

export interface ListOptions {
  list: ListName;
  rules: Rules;
  /** Which events the first complete sweep emits. */
  baseline: Baseline;
  /** @defaultValue DEFAULT_REMOVALS */
  removals?: RemovalRules | undefined;
  /** The most pages requested ahead of the walk; 0: one page after another. @defaultValue PAGES_AHEAD */
  pagesAhead?: number | undefined;
  /** @defaultValue DEFAULT_CREATIONS */
  creations?: CreationRules | undefined;
  /** @defaultValue none are used */
  shortcuts?: Shortcuts | undefined;
  /** The last attempt failed, which was logged: that this one resumes it is no news. @defaultValue false */
  again?: boolean | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: SweepProgress) => void) | undefined;
}

/** How far a sweep has come. */
export interface SweepProgress {
  workspace: string;
  list: ListName;
  /** `baseline`: the first one, which makes no events. */
  mode: Checkpoint['mode'];
  /** Pages that were read. */
  pages: number;
  /** Records on them. */
  records: number;
  /** Records that the last complete sweep saw, as an estimate of the total. Null on the first sweep. */
  expected: number | null;
  /** True after the last page. */
  done: boolean;
}

/** On one connection each, they hide the API's latency; more would only wait for the budget. */
const PAGES_AHEAD = 12;
/** An older checkpoint is not resumed: its first pages show another day. */
const CHECKPOINT_LIFE_MS = 3_600_000;
/** Later it may lead elsewhere without an error, and records be missed. Starting again costs requests only. */
const CURSOR_LIFE_MS = 300_000;

/** Counts a list whose pages cannot answer a question one by one. */
interface Surveying {
  about: SurveyQuestion['about'];
  counts: Survey;
  /** New records that were reported before. */
  reported: number;
  visited: VisitedCursors;
  keys: Set<string>;
  next: PageToRead;
}

/** The writes and counts that a page of the walk has led to. */
export type ShownRecords = Pick<Step, 'writes'> & { reached: Pick<Checkpoint, 'counts'> };

export class FeedList {
  readonly deps: ListDeps;
  readonly options: ListOptions & Leased;
  readonly name: ListName;
  readonly rules: Rules;
  /** The list as the last complete sweep left it. It changes in a sweep only, which needs the lease. */
  readonly state: StoredSweep['state'];
  /** Their rows are as if the list did not show them. */
  readonly isErased: (key: string) => boolean;
  readonly form: Pick<SweepSummary, 'recognisedOnly'> = {};
  #stored: StoredSweep;
  /** The position of the walk. While none is under way or interrupted, it stands for that of the last sweep. */
  checkpoint: Checkpoint;
  visited: VisitedCursors;
  /** Not null: the list is surveyed. */
  survey: Surveying | null = null;
  /** New records that were reported since the last complete sweep, by walks and shortcuts. Committed with their pages. */
  fresh: number;
  /** Set when the last page left nothing to finish. */
  summary: SweepSummary | null = null;
  schema: SchemaTally = schemaFrom([]);
  tracked = new TrackedFields(this.schema);
  /** Key → first page that showed it, of the pages compared. One also on an unchanged page counts twice. */
  seen = new Map<string, number>();
  /** The page before was skipped: its records are not among those seen. */
  skipped = false;
  /** Sweeps before left records to decide about: missing ones, or ids that only an abandoned sweep has seen. */
  hasUndecided = false;
  /** When the walk was committed last, by the monotonic clock. */
  committedMs = 0;
  ahead: ReadAhead;
  heldExamples: HeldExample[] = [];

  constructor(deps: ListDeps, options: ListOptions & Leased, stored: StoredSweep, isErased: (key: string) => boolean) {
    this.deps = deps;
    this.options = options;
    this.name = options.list;
    this.rules = options.rules;
    this.state = stored.state;
    this.isErased = isErased;
    this.#stored = stored;
    this.fresh = stored.fresh;
    this.checkpoint = stored.checkpoint ?? betweenWalks(stored.state.lastSweep);
    this.visited = createVisitedCursors({ firstPage: null, cursors: [] });
    this.ahead = this.#readAhead();
  }

  get next(): PageToRead | null {
    const { finishing, pages, cursor } = this.checkpoint;
    if (this.survey !== null) return this.survey.next;
    return finishing === true ? null : { page: pages + 1, cursor };
  }

  /** The last complete sweep; null where it was of another source, so it says nothing about this one. */
  get lastSweep(): SweepSummary | null {
    return this.checkpoint.takesOver === true ? null : this.state.lastSweep;
  }

  /** Whether a page with the bytes that the last sweep read need not be parsed. A survey counts every page. */
  get skips(): boolean {
    return this.checkpoint.mode === 'changes' && this.lastSweep !== null && this.survey === null;
  }

  get baseline(): Baseline | null {
    const { mode, quiet } = this.checkpoint;
    if (mode !== 'baseline') return null;
    return quiet === true ? 'quiet' : this.options.baseline;
  }

  get verdict(): Verdict {
    return this.checkpoint.verdict ?? NO_VERDICT;
  }

  /** Fields whose drift was reported since the last complete sweep, by this walk or by an abandoned one. */
  get newlyDrifted(): DriftedField[] {
    const all = [...this.state.drifted, ...this.verdict.fields];
    return [...new Map(all.map((one) => [one.field, one])).values()];
  }

  get drifted(): DriftedField[] {
    return [...this.newlyDrifted, ...(this.lastSweep?.drifted ?? [])];
  }

  observation(): Observation {
    const { workspace, clock } = this.deps;
    const { epoch } = this.options;
    const observedAt = isoTime(clock.now());
    return { workspace, sweep: this.checkpoint.sweepId, observedAt, ...(epoch !== undefined && { epoch }) };
  }

  /** The stored digests of the records that a page shows; null where there is no stored record. */
  async digests(shown: readonly { key: string; digest: string }[]): Promise<(string | null)[]> {
    const keys = shown.map(({ key }) => key);
    return await this.deps.store.digests(this.name, keys);
  }

  /** The members of a page in the last complete sweep, and whether these are the same. */
  async members(page: number, keys: readonly string[]): Promise<{ before: readonly string[]; isSame: boolean }> {
    const [before] = await this.deps.store.membersOf(this.name, [page]);
    const sorted = [...keys].sort();
    const isSame = before?.length === keys.length && before.every((key, index) => key === sorted[index]);
    return { before: before ?? [], isSame };
  }

  /** The members of the pages that this sweep has replaced. */
  async membershipChange(): Promise<Membership> {
    return await this.deps.store.membershipChange(this.name, this.checkpoint.pages);
  }

  saw(key: string, page: number): void {
    this.seen.set(key, page);
  }

  // After a crash the pages are known whose members have changed: a record of another page counts as new once more.
  /** Whether a page shows a record that no page of this walk has shown. */
  showsNew({ reached }: ShownRecords): boolean {
    return reached.counts.seen > this.checkpoint.counts.seen;
  }

  /** The list has kept its records in another form than the one it keeps them in now: it needs another baseline. */
  isOtherForm(sweep: Pick<SweepSummary, 'recognisedOnly'> | null): boolean {
    return sweep !== null && sweep.recognisedOnly !== this.form.recognisedOnly;
  }

  /** The one way in which a list writes. @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
  async commit(step: Step): Promise<void> {
    const { store, actors, unfinished, onEvents } = this.deps;
    const { token } = this.options;
    const write = () => store.commit(this.name, { token, masks: this.rules.masks, ...step });
    this.expect(await (unfinished?.during(`commit of list "${this.name}"`, write) ?? write()));
    this.fresh = step.summary == null ? this.fresh + (step.counted?.fresh ?? 0) : 0;
    const events = eventsOf(step);
    if (step.writes.length > 0) await actors?.committed(this.name, step.writes);
    if (events.length > 0) onEvents?.(events);
  }

  /** @throws ChangefeedError CF_LEASE_LOST, CF_STATE_LOST */
  expect(result: CommitResult): void {
    if (result.outcome === 'fenced') throw leaseLost(this.name);
    if (result.outcome === 'lost') throw stateLost(this.name);
  }

  /** The walk that begins next starts at the first page. */
  async abandon(): Promise<void> {
    this.expect(await this.deps.store.abandon(this.name, this.options.token));
    this.#stored = { ...this.#stored, checkpoint: null, cursors: [], cutOff: false };
  }

  /**
   * At the checkpoint of an interrupted walk, unless that is too old; otherwise at the first page.
   * @param reported what an earlier walk of the same sweep has counted
   */
  async beginWalk(verdict: Verdict, reported: SweepCounts = noCounts()) {
    const { workspace, store, clock, source, log } = this.deps;
    const { checkpoint, cursors, cutOff } = this.#stored;
    const isResumed = checkpoint !== null && this.#isResumable(checkpoint);
    if (isResumed) {
      const facts = { workspace, list: this.name, sweepId: checkpoint.sweepId, pages: checkpoint.pages };
      log[this.options.again === true ? 'debug' : 'info'](facts, 'sweep resumed');
    } else {
      if (checkpoint !== null || cutOff) await this.abandon();
      this.expect(await store.beginWalk(this.name, this.options.token, this.form));
      this.checkpoint = this.#firstCheckpoint(verdict, reported, isTakeover(checkpoint, this.state.lastSweep, source));
    }
    this.visited = createVisitedCursors({ firstPage: this.checkpoint.firstPage, cursors: isResumed ? cursors : [] });
    this.survey = null;
    this.heldExamples = [];
    await this.options.shortcuts?.begin(this.state, clock.monotonic());
    await this.restoreMemory();
    this.committedMs = clock.monotonic();
    this.readAhead();
  }

  /** Loads what the pages before have shown. */
  async restoreMemory(): Promise<void> {
    const { store } = this.deps;
    const [schema, hasUndecided, walked] = await Promise.all([
      store.schema(this.name),
      store.hasUndecided(this.name),
      store.walkedMembers(this.name),
    ]);
    this.schema = schema;
    this.tracked = new TrackedFields(schema);
    this.seen.clear();
    for (const [page, keys] of walked) for (const key of keys) if (!this.seen.has(key)) this.seen.set(key, page);
    this.skipped = this.checkpoint.pages > 0;
    this.hasUndecided = hasUndecided;
  }

  /** Drops the requests under way. What is read next is read from another page, or in another way. */
  readAhead(): void {
    this.ahead.close();
    this.ahead = this.#readAhead();
  }

  #readAhead(): ReadAhead {
    const { store, api, clock } = this.deps;
    const { signal, pagesAhead: most = PAGES_AHEAD } = this.options;
    return createReadAhead({
      fetch: ({ signal: dropped, knownDigest, ...wanted }) =>
        api.fetchIfChanged(this.name, {
          ...wanted,
          ...(this.skips && { knownDigest }),
          signal: AbortSignal.any([signal, dropped]),
        }),
      stored: async (from, count) => (await store.pages(this.name, from, count)).map((page) => this.#underRules(page)),
      // No cursor of the last sweep is older than its start.
      usable: () => isYounger(this.lastSweep?.startedAt, clock.now(), CURSOR_LIFE_MS),
      most,
      clock,
    });
  }

  /** A page whose records were stored under other masks is not recognised: they are stored again. */
  #underRules(page: StoredPage | null): StoredPage | null {
    return page === null || page.rules === pageTagOf(this.rules) ? page : { ...page, digest: NOT_RECOGNISED };
  }

  /** One that was stopped while it was finished would decide removals by pages that may show the records again now. */
  #isResumable(checkpoint: Checkpoint): boolean {
    const { startedAt, readAt = startedAt, finishing, recognisedOnly, source } = checkpoint;
    const nowMs = this.deps.clock.now();
    if (this.isOtherForm(checkpoint) || !isSameSource(source, this.deps.source)) return false;
    if (finishing === true) return recognisedOnly === true;
    return isYounger(startedAt, nowMs, CHECKPOINT_LIFE_MS) && isYounger(readAt, nowMs, CURSOR_LIFE_MS);
  }

  #firstCheckpoint(verdict: Verdict, counts: SweepCounts, isOfAnother: boolean): Checkpoint {
    const { workspace, clock, log, source } = this.deps;
    const { token, epoch } = this.options;
    const { baselineAt, quiet, lastSweep } = this.state;
    const now = clock.now();
    const sweepId = `${this.name}-${token}-${now.toString(36)}`;
    const isOther = this.isOtherForm(lastSweep);
    if (isOther) {
      const facts = { workspace, list: this.name, sweepId };
      log.info(facts, 'the list keeps its records in another form: another baseline is taken');
    }
    return {
      sweepId,
      startedAt: isoTime(now),
      ...(epoch !== undefined && { epoch }),
      mode: baselineAt === null || isOther ? 'baseline' : 'changes',
      ...((quiet || isOther) && { quiet: true }),
      ...this.form,
      cursor: null,
      pages: 0,
      counts,
      firstPage: null,
      ...(source !== undefined && { source }),
      ...(baselineAt === null && isOfAnother && { takesOver: true }),
      ...(baselineAt !== null && { verdict }),
    };
  }
}

/** Under which masks the records of a page are stored. */
export function pageTagOf({ masks }: Rules): string | undefined {
  return masks === '' ? undefined : masks;
}

function betweenWalks(lastSweep: SweepSummary | null): Checkpoint {
  const { sweepId, startedAt } = lastSweep ?? { sweepId: '', startedAt: '' };
  return { sweepId, startedAt, mode: 'changes', cursor: null, pages: 0, counts: noCounts(), firstPage: null };
}

/** The stored records belong to another source, by its address or by its contents. This baseline replaces them. */
function isTakeover(
  checkpoint: Checkpoint | null,
  lastSweep: SweepSummary | null,
  source: string | undefined,
): boolean {
  if (checkpoint?.takesOver === true || !isSameSource(checkpoint?.source, source)) return true;
  if (lastSweep === null) return false;
  return !isSameSource(lastSweep.source, source) || heldOf(lastSweep.held, 'creations')?.why === 'replaced';
}

/** A sweep without a source matches any source. */
export function isSameSource(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}
