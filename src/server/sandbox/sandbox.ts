/** The sandbox: a synthetic workspace that lives, served by the read API, with everything that may go wrong on request. */
import { systemClock, type Clock } from '../../runtime/clock.js';
import { silentLog, type Log } from '../../runtime/log.js';
import type { Layer } from '../read-api/answer.js';
import { createReadApiServer, type ReadApiServer } from '../read-api/server.js';
import { DEFAULT_BEHAVIOUR, type Behaviour } from './behaviour/behaviour.js';
import { settled, SETTLED_RULES } from './behaviour/dress.js';
import { rateLimited, SlidingWindow } from './behaviour/rate-limit.js';
import { openJournalFile, type JournalFile } from './journal/file.js';
import { Journal } from './journal/journal.js';
import { Life } from './life/life.js';
import { Pace } from './life/pace.js';
import type { LifeVerb } from './life/stream.js';
import { Pager } from './paging/pager.js';
import { sizesOf, type SandboxSizes } from './sizes.js';
import { World } from './world/world.js';

export interface SandboxOptions extends SandboxSizes {
  /** The same seed gives the same world and the same life. @defaultValue 1 */
  seed?: number;
  /** @defaultValue 'sandbox' */
  token?: string;
  /** 0 takes any free port. @defaultValue 0 */
  port?: number;
  /** @defaultValue '127.0.0.1' */
  host?: string;
  /** Mutations per second; 0 stands still. @defaultValue 0 */
  rate?: number;
  /** Records per page. @defaultValue 50 */
  pageSize?: number;
  /** Null is no limit. @defaultValue 100 requests in 10 s */
  limit?: { requests: number; perMs: number } | null;
  /** Wait before every answer; ms. @defaultValue 0 */
  latencyMs?: number;
  /** Any further switch. @defaultValue DEFAULT_BEHAVIOUR */
  behaviour?: Partial<Behaviour>;
  /** Path of a file that gets the journal as NDJSON. */
  journal?: string;
  /** Lines of the journal kept in memory. @defaultValue 20000 */
  journalKeep?: number;
  /** Bytes of serialised pages kept. @defaultValue 134217728 (128 MiB) */
  cacheBytes?: number;
  clock?: Clock;
  log?: Log;
}

export interface SandboxAddress {
  /** What stands before `/v2`. */
  url: string;
  token: string;
}

export class Sandbox {
  readonly world: World;
  readonly life: Life;
  readonly journal: Journal;
  readonly window = new SlidingWindow();
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #pace: Pace;
  readonly #pager: Pager;
  readonly #server: ReadApiServer;
  readonly #file: JournalFile | null;
  #behaviour: Behaviour;
  #token: string;
  #started: Promise<SandboxAddress> | null = null;

  constructor(options: SandboxOptions) {
    const { seed = 1, token = 'sandbox', clock = systemClock, log = silentLog } = options;
    this.#clock = clock;
    this.#log = log;
    this.#token = token;
    this.#behaviour = initialBehaviour(options);
    const now = (): number => clock.now();
    const behaviour = (): Behaviour => this.#behaviour;
    this.world = new World({ seed, sizes: sizesOf(options) });
    this.world.stampsFollow = this.#behaviour.stampsFollow;
    this.life = new Life(this.world, now, seed);
    this.#pace = new Pace(clock, options.rate ?? 0, (count) => this.life.step(count));
    this.#file = options.journal === undefined ? null : openJournalFile(options.journal);
    this.journal = this.#openJournal(options.journalKeep ?? 20_000);
    const { cacheBytes = 128 * 1_024 * 1_024 } = options;
    this.#pager = new Pager({
      world: this.world,
      behaviour,
      now,
      seed,
      cacheBytes,
      shown: (page) => this.journal.shown(page),
      happens: () => false,
    });
    this.#server = createReadApiServer({
      sources: (given) => (given === this.#token ? this.#pager : null),
      manners: behaviour,
      layers: [rateLimited(this.window, behaviour, now), this.#slowed],
      host: options.host ?? '127.0.0.1',
      port: options.port ?? 0,
      clock,
      log,
    });
  }

  /** Listens, and lets life go on. Twice is once. */
  start(): Promise<SandboxAddress> {
    return (this.#started ??= this.#start());
  }

  async stop(): Promise<void> {
    await this.#started?.catch(() => undefined);
    await this.#pace.stop();
    await this.#server.stop();
    await this.#file?.close();
  }

  get token(): string {
    return this.#token;
  }

  /** A new token is made in the web page: the old one is dead from now on. */
  reissueToken(token: string): void {
    this.#token = token;
  }

  get behaviour(): Behaviour {
    return this.#behaviour;
  }

  /** Switches while running; what is not named stays. */
  behave(changes: Partial<Behaviour>): void {
    const before = this.#behaviour;
    this.#behaviour = { ...before, ...changes };
    this.world.stampsFollow = this.#behaviour.stampsFollow;
    const rules = SETTLED_RULES.filter((rule) => before[rule] !== this.#behaviour[rule]);
    if (rules.length > 0) this.journal.ruled(Object.fromEntries(rules.map((rule) => [rule, this.#behaviour[rule]])));
  }

  /** Mutations per second from now on; 0 stands still. */
  get rate(): number {
    return this.#pace.rate;
  }

  set rate(rate: number) {
    this.#pace.rate = rate;
  }

  /** Makes the next mutations of the seeded stream, whatever the rate. */
  step(count = 1): LifeVerb[] {
    return this.life.step(count);
  }

  async #start(): Promise<SandboxAddress> {
    const url = await this.#server.start();
    this.#pace.start();
    this.#log.info({ url, records: this.world.counts }, 'sandbox listens');
    return { url, token: this.#token };
  }

  #openJournal(keep: number): Journal {
    const file = this.#file;
    const journal = new Journal({
      now: () => this.#clock.now(),
      keep,
      dress: (list, record) => (record === null ? null : settled(list, record, this.#behaviour)),
      ...(file !== null && { write: (line) => file.write(line) }),
    });
    this.world.listen({
      mutated: (mutation) => journal.mutated(mutation),
      renamed: (rename) => journal.renamed(rename),
    });
    return journal;
  }

  readonly #slowed: Layer = (next) => async (request) => {
    const { latencyMs } = this.#behaviour;
    if (latencyMs > 0) await this.#clock.sleep(latencyMs, request.signal);
    return await next(request);
  };
}

export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new Sandbox(options);
}

function initialBehaviour({ pageSize, limit, latencyMs, behaviour }: SandboxOptions): Behaviour {
  return {
    ...DEFAULT_BEHAVIOUR,
    ...(pageSize !== undefined && { pageSize }),
    ...(limit === null && { limitRequests: 0 }),
    ...(limit !== null && limit !== undefined && { limitRequests: limit.requests, limitWindowMs: limit.perMs }),
    ...(latencyMs !== undefined && { latencyMs }),
    ...behaviour,
  };
}
