/**
 * The connections of a process to its Redis: opened with limits to how long one waits, counted when they are lost, and cut
 * when a stop cannot wait for Redis. Knows nothing of what is sent over them.
 */
import { Redis, type RedisOptions } from 'ioredis';
import { classifyRedisError } from './redis-errors.js';

export interface ConnectionLimits {
  /**
   * A command that is not answered fails; ms. Longer than the largest commit takes. Not for workers' connections, whose
   * blocking reads wait on purpose. @defaultValue 15000
   */
  commandTimeoutMs: number;
  /**
   * A connection over which a command waits and nothing comes is given up and made again; ms. It notices a peer that is
   * gone without a word. Longer than the longest blocking read (10 s). @defaultValue 20000
   */
  silenceMs: number;
}

/** Without the choice of a reply mapping, which would change the type of the connection. */
type Options = Omit<RedisOptions, 'replyMapping'>;

const LIMITS: ConnectionLimits = { commandTimeoutMs: 15_000, silenceMs: 20_000 };
const KEEP_ALIVE_MS = 10_000;
/** Tries to connect while a command waits, before it fails. */
const TRIES_PER_COMMAND = 20;
const LONGEST_RETRY_MS = 1_000;

export interface ConnectionsOptions {
  url: string;
  limits?: Partial<ConnectionLimits>;
  /** A connection failed, was lost, came back or ended: `lost` counts those that are lost now. */
  onChange?: (state: { lost: number; error: Error | undefined }) => void;
}

export interface RedisConnections {
  /** A connection for commands that are answered at once: each fails when Redis is away for too long. */
  general: () => Redis;
  /** A connection for blocking reads and BullMQ, whose commands wait for Redis to come back. */
  patient: () => Redis;
  /** Ends all of them at once, whatever they wait for: every command fails, and so does every later one. */
  cut: () => void;
}

export function openConnections({ url, limits, onChange = () => undefined }: ConnectionsOptions): RedisConnections {
  const { commandTimeoutMs, silenceMs } = { ...LIMITS, ...limits };
  const open = new Set<Redis>();
  const lost = new Set<Redis>();
  let isCut = false;
  const common: Options = {
    keepAlive: KEEP_ALIVE_MS,
    socketTimeout: silenceMs,
    retryStrategy: (tries) => Math.min(LONGEST_RETRY_MS, 50 * tries + Math.random() * 50),
    // After a failover the same address may lead to another server.
    reconnectOnError: (error) => classifyRedisError(error) === 'read-only',
  };
  const changed = (error?: Error): void => {
    if (!isCut) onChange({ lost: lost.size, error });
  };
  const track = (redis: Redis): Redis => {
    open.add(redis);
    // Also one that had ended: BullMQ ends a blocked connection and connects it again.
    redis.on('connecting', () => {
      open.add(redis);
      if (isCut) end(redis);
    });
    // It comes before the connection counts as lost.
    redis.on('error', changed);
    redis.on('reconnecting', () => {
      lost.add(redis);
      changed();
    });
    redis.on('ready', () => {
      if (lost.delete(redis)) changed();
    });
    redis.on('end', () => {
      rejectUnanswered(redis);
      open.delete(redis);
      if (lost.delete(redis)) changed();
    });
    // BullMQ duplicates connections for its blocking reads; these count as well.
    redis.duplicate = (override?: Options) => make({ ...redis.options, ...override });
    if (isCut) end(redis);
    return redis;
  };
  const make = (options: Options): Redis => track(new EndableRedis(options));
  return {
    general: () =>
      track(
        new EndableRedis(url, {
          ...common,
          maxRetriesPerRequest: TRIES_PER_COMMAND,
          commandTimeout: commandTimeoutMs,
        }),
      ),
    patient: () => track(new EndableRedis(url, { ...common, maxRetriesPerRequest: null })),
    cut() {
      isCut = true;
      for (const redis of open) end(redis);
    },
  };
}

class EndableRedis extends Redis {
  /**
   * Between two tries to connect there is no socket whose close would end the client: the commands in its queue would
   * never be answered, and BullMQ would wait for the end. A try that is called off at once ends it.
   */
  override disconnect(reconnect = false): void {
    const isBetweenTries = this.status === 'reconnecting';
    super.disconnect(reconnect);
    if (!isBetweenTries || reconnect) return;
    this.connect().catch(() => undefined);
    super.disconnect();
  }
}

/**
 * Commands that had been sent when a connection was lost wait for the next one in a queue which the client forgets when it
 * ends: whoever waits for their answers would wait without end.
 */
function rejectUnanswered(redis: Redis): void {
  const { prevCommandQueue } = redis as unknown as { prevCommandQueue?: Unanswered | null };
  for (let item = prevCommandQueue?.shift(); item !== undefined; item = prevCommandQueue?.shift())
    item.command.reject(new Error('Connection is closed.'));
}

interface Unanswered {
  shift(): { command: { reject(error: Error): void } } | undefined;
}

function end(redis: Redis): void {
  const { stream } = redis as { stream?: Redis['stream'] };
  redis.disconnect();
  // A peer that is silent does not answer the closing of the connection either.
  stream?.destroy();
}
