/**
 * The sandbox: a synthetic workspace that changes over time, served through the read API, with faults on request. It serves the six lists of
 * the interface and those of the option `lists`. The seed decides the records (`world/`) and how they change (`life/`); `paging/` decides which
 * rows an answer has and under which cursor, and `faults/` what goes wrong. The journal records every change, and when a page first showed it.
 */
import { growsOnly } from './world/lists.js';
import { systemClock, type Clock } from '../src/kit/clock.js';
import { silentLog, type Log } from '../src/kit/log.js';
import type { Answer, Layer, ReadRequest } from '../src/ops/server/read-api/answer.js';
import { createReadApiServer, type ReadApiServer } from '../src/ops/server/read-api/server.js';
import { rendered, RENDERING_RULES } from './faults/rendering.js';
import type { Behaviour } from './faults/behaviour.js';
import { FaultSchedule, faultLayer, withoutHistory } from './faults/schedule.js';
import { rateLimited, SlidingWindow } from './faults/rate-limit.js';
import type { FaultName } from './faults/faults.js';
import { composed, faultNamed, profileNamed } from './faults/profiles.js';
import { createControlServer, type ControlServer } from './control/server.js';
import { openJournalFile, type JournalFile } from './journal/file.js';
import { Journal } from './journal/journal.js';
import { Life, type LifeVerb } from './life/life.js';
import { Pace } from './life/pace.js';
import { givenBehaviour, sizesOf, startOf, type SandboxOptions } from './options.js';
import { Pager, type PageShown } from './paging/pager.js';
import { World } from './world/world.js';

export type { SandboxOptions } from './options.js';

export interface SandboxAddress {
  /** The part of the address before `/v2`. */
  url: string;
  token: string;
  /** Null when the sandbox has no control API. */
  control: { url: string; token: string } | null;
}

/** A synthetic CRM that serves the read API, with a journal of what really happened. */
export class Sandbox {
  /** Its records. */
  readonly world: World;
  /** Makes changes: edits, completions, removals. */
  readonly life: Life;
  /** The journal of what really happened. */
  readonly journal: Journal;
  readonly #clock: Clock;
  readonly #log: Log;
  #faults: Set<FaultName>;
  readonly #schedule: FaultSchedule;
  readonly #pace: Pace;
  readonly #server: ReadApiServer;
  readonly #control: ControlServer | null;
  readonly #file: JournalFile | null;
  #profile: string;
  /** Single switches. They override profile and faults. */
  #given: Partial<Behaviour>;
  #behaviour: Behaviour;
  #token: string;
  #started: Promise<SandboxAddress> | null = null;

  constructor(options: SandboxOptions) {
    const {
      seed = 1,
      token = 'sandbox',
      profile = 'calm',
      faults = [],
      clock = systemClock,
      log = silentLog,
    } = options;
    this.#clock = clock;
    this.#log = log;
    this.#token = token;
    this.#given = givenBehaviour(options);
    this.#profile = profile;
    this.#faults = new Set([...profileNamed(profile).faults, ...faults.map(faultNamed)]);
    this.#behaviour = composed(this.#faults, this.#given);
    this.#schedule = new FaultSchedule(seed, () => this.behaviour);
    this.world = new World({
      seed,
      start: startOf(options, clock),
      sizes: sizesOf(options),
      named: Object.keys(options.lists ?? {}),
    });
    this.world.writing = this.#behaviour.historyRows;
    this.life = new Life(this.world, () => clock.now(), seed);
    this.#pace = new Pace(clock, options.rate ?? 0, (count) => this.life.step(count));
    this.#file = options.journal === undefined ? null : openJournalFile(options.journal);
    this.journal = this.#openJournal(options.journalKeep ?? 10_000);
    this.#server = this.#createServer(options, seed);
    this.#control = options.control === undefined ? null : createControlServer(this, options.control);
  }

  /** Starts to listen and to change records. A second call returns the same promise. */
  start(): Promise<SandboxAddress> {
    return (this.#started ??= this.#start());
  }

  /** Answers a request from the same process, with limits and faults. Does not need `start`. */
  respond(request: ReadRequest): Promise<Answer> {
    return this.#server.respond(request);
  }

  /** Ends its server and its changes. */
  async stop(): Promise<void> {
    await this.#started?.catch(() => undefined);
    await this.#pace.stop();
    await this.#control?.stop();
    await this.#server.stop();
    await this.#file?.close();
  }

  /** The bearer token that opens it now. */
  get token(): string {
    return this.#token;
  }

  /** Replaces the token, as a user does in the web page. The old one is refused from now on. */
  reissueToken(token: string): void {
    this.#token = token;
  }

  /** How it answers now. */
  get behaviour(): Behaviour {
    return this.#behaviour;
  }

  /** The name of the profile that it follows. */
  get profile(): string {
    return this.#profile;
  }

  /** The faults that are on. */
  get faults(): readonly string[] {
    return [...this.#faults];
  }

  /** Changes single switches; the others stay as they are. */
  behave(changes: Partial<Behaviour>): void {
    this.#given = { ...this.#given, ...changes };
    this.#switched();
  }

  /** Uses the faults of this profile and no others; single switches stay. @throws ChangefeedError CF_USAGE for an unknown profile */
  useProfile(name: string): void {
    const { faults } = profileNamed(name);
    this.#profile = name;
    this.#faults = new Set(faults);
    this.#switched();
  }

  /** @throws ChangefeedError CF_USAGE for an unknown fault */
  fault(name: string, to: 'on' | 'off' = 'on'): void {
    if (to === 'on') this.#faults.add(faultNamed(name));
    else this.#faults.delete(faultNamed(name));
    this.#switched();
  }

  /** Mutations per second; 0 for none. */
  get rate(): number {
    return this.#pace.rate;
  }

  set rate(rate: number) {
    this.#pace.rate = rate;
  }

  /** Requests with a valid token so far, including refused ones. */
  get requests(): number {
    return this.#schedule.requests;
  }

  /** Makes the next mutations of the seeded stream, independent of the rate. */
  step(count = 1): LifeVerb[] {
    return this.life.step(count);
  }

  async #start(): Promise<SandboxAddress> {
    const url = await this.#server.start();
    const control = (await this.#control?.start()) ?? null;
    this.#pace.start();
    this.#log.info({ url, records: this.world.counts }, 'sandbox listens');
    return { url, token: this.#token, control };
  }

  #createServer(options: SandboxOptions, seed: number): ReadApiServer {
    const { world } = this;
    const { host = '127.0.0.1', port = 0 } = options;
    const behaviour = (): Behaviour => this.behaviour;
    const now = (): number => this.#clock.now();
    const { happens } = this.#schedule;
    const pager = new Pager({ world, behaviour, now, seed, happens, shown: this.#shown });
    // The wait is the outermost layer: nothing asynchronous may happen between counting a request and answering it.
    const layers = [
      this.#slowed,
      faultLayer(this.#schedule, behaviour),
      rateLimited(new SlidingWindow(), behaviour, now),
      withoutHistory(behaviour),
    ];
    const sources = (token: string): Pager | null => (token === this.#token ? pager : null);
    return createReadApiServer({
      lists: world.lists.filter(({ name }) => !world.isUnread(name)),
      undocumented: world.lists.filter(({ name }) => world.isUnread(name)),
      sources,
      layers,
      host,
      port,
      clock: this.#clock,
      log: this.#log,
    });
  }

  readonly #slowed: Layer = (next) => async (request) => {
    const { latencyMs } = this.behaviour;
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, request.signal);
    return await next(request);
  };

  /** A page was delivered: it is journalled first, then come the mutations that are scheduled after a page. */
  readonly #shown = (page: PageShown): void => {
    this.journal.shown(page);
    if (this.#schedule.happens('cursor-row-deleted')) this.#deleteLastRow(page);
    if (this.#schedule.happens('rename')) this.life.rename('user');
    const { churn, churnUntil } = this.behaviour;
    if (churn > 0 && this.world.mutations < churnUntil) this.life.step(churn);
  };

  #deleteLastRow({ list, rows }: PageShown): void {
    const last = rows.at(-1)?.index;
    if (last === undefined || this.world.facts(list, last) === null) return;
    if (!growsOnly(list)) this.life.delete(list, this.world.idOf(list, last));
  }

  #switched(): void {
    const before = this.#behaviour;
    const after = composed(this.#faults, this.#given);
    this.#behaviour = after;
    this.world.writing = after.historyRows;
    this.#schedule.forget();
    const rules = RENDERING_RULES.filter((rule) => before[rule] !== after[rule]);
    if (rules.length > 0) this.journal.ruled(Object.fromEntries(rules.map((rule) => [rule, after[rule]])));
  }

  #openJournal(keep: number): Journal {
    const journal = new Journal({
      now: () => this.#clock.now(),
      keep,
      leavesOut: (list) => this.world.isUnread(list),
      render: (list, record) => (record === null ? null : rendered(list, record, this.behaviour)),
      write: (line) => this.#file?.write(line),
    });
    this.world.listen(journal);
    return journal;
  }
}

/** @throws ChangefeedError CF_USAGE for an unknown profile or fault, or a further list whose name is not allowed */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new Sandbox(options);
}
