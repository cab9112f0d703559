/** The service as a process: reads the configuration, opens log and Changefeed, runs roles until stopped. */
import { homedir, hostname, userInfo } from 'node:os';
import { envValue } from '../config/env.js';
import { loadWith } from '../config/load.js';
import type { Config } from '../config/schema.js';
import { ChangefeedError, messageOf } from '../kit/errors.js';
import { createLog, limitRepeats, logOnce, parseLogLevel, type LogOptions } from '../ops/log.js';
import { WHAT_WAS_SAID } from '../delivery/run/run.js';
import { createDoor, type Door } from '../ops/server/http/door.js';
import { openRedis } from '../redis/private/open.js';
import { sleepUntilAborted, systemClock, untilAborted } from '../kit/clock.js';
import { filtered, type Log } from '../kit/log.js';
import { isAboutSweeps } from '../feed/list/sweep-log.js';
import type { Role } from '../../workers/all.js';
import { openWithBudgets, type OpenedChangefeed } from './changefeed.js';
import type { Refused } from './running-rules.js';
import { watchConfig } from './watch-config.js';
import { lastValid } from './last-valid.js';
import { stateDirOf } from './state-dir.js';

export interface Terminal {
  env: Record<string, string | undefined>;
  /** Standard error is a terminal: log lines are formatted for reading. */
  interactive: boolean;
  /** Writes text to it; lines that are too wide are continued between words. @defaultValue standard error, as it is */
  err?: (text: string) => void;
}

export interface ServiceWorld extends Terminal {
  cwd: string;
}

export interface OpenedService extends OpenedChangefeed {
  config: Config;
  log: Log;
}

interface ReadOptions {
  path?: string | undefined;
  /** A person waits for the command: each kind of warning once, and fewer tries. @defaultValue false */
  quiet?: boolean;
  /** Events are shown on standard output: complete sweeps are not logged. @defaultValue false */
  showsEvents?: boolean;
  /** Changes the configuration each time it is read. */
  adapt?: (config: Config) => Config;
  /** Those that run: where their file is gone, they go on with another configuration too. */
  rulesBefore?: () => Config['rules'];
}

export interface OpenOptions extends ReadOptions {
  signal?: AbortSignal | undefined;
  /** Where the configuration is refused, that of the running service does: nothing is asked of the CRM and of handlers. @defaultValue false */
  byLastValid?: boolean;
  /** Called with the configuration before Redis is opened; what it throws ends the command. */
  check?: (config: Config) => void;
  /** Why the configuration was not applied when it last changed, and since when; null if it was. */
  refusedConfig?: () => Refused | null;
  /** The listener of the status page. */
  door?: Door;
}

interface Loaded {
  config: Config;
  files: readonly string[];
  rulesFile: string | null;
  log: Log;
  /** When it was read, ms; undefined for a command that starts no roles. */
  configReadAtMs?: number;
}

/** Tries per page while a person waits: about 6 s without an answer. The service tries for about a minute. */
const INTERACTIVE_ATTEMPTS = 5;

/** @throws ChangefeedError what `loadConfig` and `openChangefeed` throw; the signal's reason when aborted */
export async function openService(world: ServiceWorld, options: OpenOptions = {}): Promise<OpenedService> {
  const { byLastValid = false } = options;
  const loaded = await load(world, options).catch((refusal: unknown) => {
    if (!byLastValid) throw refusal;
    return loadLastValid(refusal, world, options);
  });
  options.check?.(loaded.config);
  return await open(world, loaded, options);
}

async function loadLastValid(refusal: unknown, world: ServiceWorld, { path }: ReadOptions): Promise<Loaded> {
  const { cwd, env } = world;
  const log = quietLog(world);
  const stateDir = stateDirOf({ cwd, env, home: homedir() });
  const { config, since, file } = await lastValid(refusal, { cwd, env, path, stateDir, log });
  const [first = '', problem = first] = messageOf(refusal).split('\n');
  const why = problem.trim().replace(/\.$/, '');
  sayOn(world, `The configuration is not valid (${why}): the one that runs since ${since} is used.`);
  return { config, files: [file], rulesFile: null, log };
}

async function load(world: ServiceWorld, options: ReadOptions): Promise<Loaded> {
  const { path, quiet = false, adapt = (config) => config } = options;
  // Who asks while rules are not valid asks about all the rest.
  const leaveOut = quiet ? (problem: string) => sayOn(world, `Rules are left out: ${problem}`) : undefined;
  const { config, files: all } = await loadWith({ ...world, path }, { leaveOut, rulesBefore: options.rulesBefore?.() });
  const rulesFile = config.rules?.path ?? null;
  const files = all.filter((file) => file !== rulesFile);
  return { config: adapt(config), files, rulesFile, log: quiet ? quietLog(world) : serviceLog(world, options) };
}

async function open(
  world: ServiceWorld,
  loaded: Loaded,
  { quiet = false, signal, refusedConfig, door }: OpenOptions,
): Promise<OpenedService> {
  const { config, log, configReadAtMs } = loaded;
  const opened = await openWithBudgets({
    config,
    log,
    stateDir: stateDirFor(world, loaded),
    http: !quiet,
    signal,
    refusedConfig,
    door,
    ...(configReadAtMs !== undefined && { configReadAtMs }),
    ...(quiet && { attempts: INTERACTIVE_ATTEMPTS, reportsProblems: false }),
  });
  return { ...opened, config, log };
}

function stateDirFor({ cwd, env }: ServiceWorld, { config, files }: Loaded): string {
  const baseUrl = files.length === 0 ? config.workspaces[0]?.baseUrl : undefined;
  return stateDirOf({ cwd, env, home: homedir(), baseUrl });
}

function serviceLog(terminal: Terminal, { showsEvents = false }: ReadOptions): Log {
  const { env, interactive } = terminal;
  const log = createLog({ level: parseLogLevel(env['LOG_LEVEL']), pretty: interactive, ...lookOf(terminal) });
  const shown = withWhatWasSaid(limitRepeats(log, systemClock), terminal);
  return showsEvents && (env['LOG_LEVEL'] ?? '') === '' ? withoutSweeps(shown) : shown;
}

/** A terminal shows the words of an error to whoever writes the handler. A log that is kept has them at `debug` only: they may quote a record. */
function withWhatWasSaid(log: Log, { interactive }: Terminal): Log {
  if (!interactive) return log;
  const filter = filtered(log, (level, _facts, message) => (message === WHAT_WAS_SAID ? 'warn' : level));
  return { ...filter, child: (facts) => log.child(facts) };
}

/** Who runs a command, and the log that has what they decide. */
export function decidingIn(terminal: Terminal): { who: { by: string; how: string; address: string }; log: Log } {
  const { env, err } = terminal;
  // Who came over SSH came from another machine.
  const address = env['SSH_CONNECTION']?.split(' ')[0] ?? hostname();
  const destination = err && { write: (line: string) => err(line.trimEnd()) };
  const log = createLog({
    level: parseLogLevel(env['LOG_LEVEL']),
    pretty: terminal.interactive,
    ...(destination && { destination }),
    ...lookOf(terminal),
  });
  return { who: { by: userName(), how: 'command', address }, log };
}

/** In a container a user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? ''}`;
  }
}

/** Complete sweeps would push the events off the screen. */
function withoutSweeps(log: Log): Log {
  const filter = filtered(log, (level, _facts, message) => (level === 'info' && isAboutSweeps(message) ? null : level));
  // A subscription's own lines are its handler's.
  return { ...filter, child: (facts) => log.child(facts) };
}

export function quietLog(terminal: Terminal): Log {
  const requested = terminal.env['LOG_LEVEL'] ?? '';
  const level = requested === '' ? 'warn' : parseLogLevel(requested);
  const log = createLog({ level, pretty: true, ...lookOf(terminal) });
  return withWhatWasSaid(requested === '' ? logOnce(log) : log, terminal);
}

function lookOf({ env, interactive, err }: Terminal): LogOptions {
  if (!interactive) return {};
  return {
    colour: (env['NO_COLOR'] ?? '') === '',
    ...(err && { destination: { write: (line) => err(line.trimEnd()) } }),
  };
}

export interface RunOptions extends ReadOptions, Pick<OpenOptions, 'refusedConfig' | 'door'> {
  roles: readonly Role[];
  signal: AbortSignal;
  /** Receives what restarts the service (for SIGHUP). */
  onHangUp: (restart: () => void) => void;
  /** Called when the roles run, with a signal that aborts when they stop. Its promise is awaited. */
  onRunning?: (service: OpenedService, signal: AbortSignal) => Promise<void>;
}

const RETRY_MS = 2_000;

/** When another valid configuration is found, the whole service stops and opens again in this process. */
export async function runService(world: ServiceWorld, given: RunOptions): Promise<void> {
  let file: string | undefined;
  let rulesBefore = (): Config['rules'] => null;
  const watch = watchConfig({
    ...world,
    async load() {
      const isNamed = given.path !== undefined || envValue(world.env, 'CHANGEFEED_CONFIG') !== undefined;
      // Again the same file: a search could now find another one, or none.
      const loaded = await load(world, { ...given, rulesBefore, ...(!isNamed && { path: file }) });
      file = loaded.files[0];
      return loaded;
    },
  });
  const first = await watch.read();
  const { config, log } = first;
  // Held while the service restarts, which would begin an epoch with each end of a private Redis.
  const isPrivate = config.redis.url === undefined;
  const held = isPrivate ? await openRedis({ stateDir: stateDirFor(world, first), log }) : null;
  const door = createDoor();
  try {
    await runWatched(world, first, { ...given, watch, door, onOpened: ({ rules }) => (rulesBefore = rules) });
  } finally {
    await door.close();
    await held?.close();
  }
}

interface WatchedRun extends RunOptions {
  watch: ReturnType<typeof watchConfig<ReadConfig>>;
  onOpened: (service: OpenedService) => void;
}

async function runWatched(
  world: ServiceWorld,
  first: ReadConfig,
  { watch, onOpened, ...given }: WatchedRun,
): Promise<void> {
  const { signal, onHangUp, onRunning } = given;
  const options = { ...given, refusedConfig: watch.refused };
  let service = await startService(world, first, options);
  onHangUp(watch.request);
  for (;;) {
    const { feed, log } = service;
    onOpened(service);
    const over = new AbortController();
    const running = AbortSignal.any([signal, over.signal]);
    const showing = onRunning?.(service, running);
    // Also without the watch: it may be loading a configuration that never ends.
    const next = await Promise.race([watch.next(log, running), untilAborted(running)]);
    log.info({}, next ? 'changefeed restarts with the configuration as it is now' : 'changefeed is stopping');
    over.abort();
    try {
      await Promise.all([feed.stop(), showing]);
    } catch (error) {
      if (signal.aborted || !next) throw error;
      log.error(factsOf(error), 'the stop before the restart was not clean');
    }
    if (!next) return;
    service = await startAgain(world, next, { ...options, read: watch.read });
  }
}

type ReadConfig = Loaded & { configReadAtMs: number };

async function startService(world: ServiceWorld, read: ReadConfig, options: RunOptions): Promise<OpenedService> {
  const { roles } = options;
  const service = await open(world, read, options);
  const { feed, config, log } = service;
  try {
    // A page that the configuration no longer has.
    if (!config.http.enabled) await options.door?.close();
    await feed.start(roles);
  } catch (error) {
    await feed.stop();
    throw error;
  }
  const workspaces = config.workspaces.map(({ name }) => name);
  const subscriptions = config.subscriptions.map(({ name }) => name);
  log.info({ roles, workspaces, subscriptions, redis: feed.redisOrigin }, 'changefeed is running');
  return service;
}

/** Repeats a start that fails, such as while Redis is away, with the configuration as it is then. */
async function startAgain(
  world: ServiceWorld,
  first: ReadConfig,
  { read, ...options }: RunOptions & { read: () => Promise<ReadConfig> },
): Promise<OpenedService> {
  // Anything new in these configurations begins when the first was read.
  const { log, configReadAtMs } = first;
  let said = '';
  for (let next: ReadConfig | undefined = first; ; next = undefined) {
    try {
      return await startService(world, { ...(next ?? (await read())), configReadAtMs }, options);
    } catch (error) {
      options.signal.throwIfAborted();
      if (messageOf(error) !== said) log.error(factsOf(error), 'changefeed does not run: its start is tried again');
      said = messageOf(error);
      await sleepUntilAborted(systemClock, RETRY_MS, options.signal);
    }
  }
}

function factsOf(error: unknown): object {
  return { error: messageOf(error), code: error instanceof ChangefeedError ? error.code : undefined };
}

function sayOn({ err = (text) => void process.stderr.write(`${text}\n`) }: Terminal, text: string): void {
  err(text);
}
