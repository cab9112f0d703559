/** The app context: what every role needs of the process it runs in. It is made once, when a Changefeed is opened. */
import type * as Otel from 'bullmq-otel';
import type { WorkerOptions } from 'bullmq';
import { knownTo } from '../src/config/rules.js';
import type { Config } from '../src/config/schema.js';
import type { Subscription } from '../src/delivery/handlers/handler.js';
import type { Measure } from '../src/ops/watch/prometheus.js';
import { Cluster, parseRedisUrl, type Redis } from '../src/redis/client.js';
import { Capacity } from '../src/kit/capacity.js';
import type { Clock } from '../src/kit/clock.js';
import { limitRepeats } from '../src/ops/log.js';
import { createWorkspaceBook, type WorkspaceBook } from '../src/ops/workspaces/book.js';
import { createKeyring, type Keyring } from '../src/ops/workspaces/seal.js';
import type { Log } from '../src/kit/log.js';
import type { LoopBoard } from '../src/kit/loop.js';
import { openRedis, type OpenedRedis } from '../src/redis/private/open.js';
import { openConnections } from '../src/redis/connections.js';
import { RedisWatch } from '../src/redis/watch.js';
import type { UsedRedis } from '../src/redis/stop-with-redis.js';
import { createUnfinished, type Unfinished } from '../src/kit/unfinished.js';
import { createLogReader, type EventLog } from '../src/log/event-log.js';
import { Keys } from '../src/redis/keys.js';
import { createStateGuard, type StateGuard } from '../src/log/state-guard.js';
import { importOptionalPackage, requireOptionalPackage } from '../src/kit/optional-package.js';
import { packageVersion } from '../src/kit/package-files.js';

export interface AppContext {
  config: Config;
  /** When it was read, ms. */
  configReadAtMs: number;
  /** Those of the configuration: the same array as long as the process runs, in which rules come and go. */
  subscriptions: readonly Subscription[];
  /** Those of the configuration as it was read: all others come and go (service/running-workspaces.ts). */
  ofFile: ReadonlySet<string>;
  /** Opens the tokens of workspaces that came at run time; null: none can come. */
  keyring: Keyring | null;
  book: WorkspaceBook;
  /** From now on these are the rules of the configuration. */
  setRules: (rules: NonNullable<Config['rules']>) => void;
  keys: Keys;
  redis: Redis;
  connect: () => Redis;
  /** Reads the event logs. Its readers share what it keeps of them. */
  events: EventLog;
  watch: RedisWatch;
  /** Begins an epoch when Redis is another server, and says when it has lost something. */
  guard: StateGuard;
  unfinished: Unfinished;
  measure: Measure;
  log: Log;
  clock: Clock;
  loops: LoopBoard;
  queueTelemetry: WorkerOptions['telemetry'];
  capacity: Capacity;
}

export interface OpenedContext extends AppContext, UsedRedis {
  redisOrigin: OpenedRedis['origin'];
}

export async function openContext(options: {
  config: Config;
  configReadAtMs: number;
  stateDir: string;
  temporary?: boolean | undefined;
  log: Log;
  clock: Clock;
  signal?: AbortSignal | undefined;
}): Promise<Omit<OpenedContext, 'measure'>> {
  const { configReadAtMs, stateDir, temporary, clock, signal } = options;
  const { config, ...changing } = withChanging(options.config);
  const queueTelemetry = await openTelemetry(config);
  const { url, options: own } = config.redis;
  const opened = await openRedis({ url, own, stateDir, temporary, log: options.log, signal });
  const { place } = parseRedisUrl(opened.url);
  const keys = new Keys(config.redis.prefix);
  const connections = openConnections({ ...opened, onTrouble: () => watch.felt() });
  const watch: RedisWatch = new RedisWatch({
    place,
    connect: connections.patient,
    probeKey: keys.probe(),
    allowEviction: config.redis.allowEviction,
    log: options.log,
    clock,
  });
  const log = watch.quieted(limitRepeats(options.log, clock));
  const redis = connections.general();
  const guard = createStateGuard({ redis, keys, clock, log, listsOf: (name) => listsOf(config, name) });
  // Maybe another or a restarted server: look at each workspace first. A cluster is ready once, then refreshes.
  redis.on(redis instanceof Cluster ? 'refresh' : 'ready', () => {
    for (const { name } of config.workspaces) if (guard.state(name) !== null) guard.look(name).catch(() => undefined);
  });
  return {
    ...{ config, ...changing, configReadAtMs },
    keys,
    book: createWorkspaceBook({ redis, keys }),
    redis,
    connect: connections.patient,
    events: createLogReader({ redis, keys, connect: connections.patient, guard }),
    watch,
    guard,
    unfinished: createUnfinished(),
    log,
    clock,
    loops: new Map(),
    queueTelemetry,
    capacity: new Capacity(),
    redisOrigin: opened.origin,
    place,
    cut() {
      watch.close();
      connections.cut();
    },
    async close() {
      await watch.stop();
      connections.cut();
      await opened.close();
    },
  };
}

/** Rules and workspaces come and go while the process runs: the arrays of the configuration are the same ones for as long. */
function withChanging(given: Config): Pick<AppContext, 'config' | 'subscriptions' | 'setRules' | 'ofFile' | 'keyring'> {
  const dataOf = (name: string) => workspaces.find((one) => one.name === name)?.data ?? {};
  const withData = (some: readonly Subscription[]): Subscription[] => some.map((one) => ({ ...one, dataOf }));
  const subscriptions = withData(given.subscriptions);
  const workspaces = [...given.workspaces];
  const config: Omit<Config, 'rules'> & { rules: Config['rules'] } = { ...given, subscriptions, workspaces };
  const setRules = (rules: NonNullable<Config['rules']>): void => {
    const { taken } = knownTo(config);
    const others = subscriptions.filter(({ name }) => taken.includes(name));
    subscriptions.splice(
      0,
      Infinity,
      ...others,
      ...withData(rules.all.flatMap((one) => (one.enabled ? [one.subscription] : []))),
    );
    config.rules = rules;
  };
  const ofFile = new Set(workspaces.map(({ name }) => name));
  return {
    config,
    subscriptions,
    setRules,
    ofFile,
    keyring: given.key === undefined ? null : createKeyring(given.key),
  };
}

function listsOf({ workspaces }: Config, name: string): string[] {
  const found = workspaces.find((one) => one.name === name);
  return Object.values(found?.lists ?? {}).map(({ descriptor }) => descriptor.name);
}

/** @throws ChangefeedError CF_CONFIG_INVALID when `bullmq-otel` is not installed */
async function openTelemetry({ telemetry }: { telemetry: boolean }): Promise<WorkerOptions['telemetry']> {
  if (!telemetry) return undefined;
  requireOptionalPackage('bullmq-otel', 'The option telemetry');
  const { BullMQOtel } = await importOptionalPackage<typeof Otel>('bullmq-otel');
  return new BullMQOtel({ tracerName: 'bullmq', meterName: 'bullmq', version: packageVersion(), enableMetrics: true });
}
