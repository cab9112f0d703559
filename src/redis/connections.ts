/**
 * The connections of a process to its Redis: opened with limits on waiting, and closed at once when a stop cannot wait for Redis. This module
 * does not know which commands they carry.
 */
import { Redis, type Command, type RedisOptions } from 'ioredis';
import { classifyRedisError, wrongType } from './errors.js';

export interface ConnectionLimits {
  /**
   * A command fails if it is not answered within this time; ms. Longer than the largest commit takes. Does not apply to the
   * connections of workers, whose blocking reads wait on purpose. @defaultValue 15000
   */
  commandTimeoutMs: number;
  /**
   * A connection is closed and opened again if a command waits and nothing is received for this time; ms. Detects a peer that
   * is gone without closing the connection. Longer than the longest blocking read (10 s). @defaultValue 20000
   */
  silenceMs: number;
}

/** Without the option that would change the types of the replies. */
type Options = Omit<RedisOptions, 'replyMapping'>;

const LIMITS: ConnectionLimits = { commandTimeoutMs: 15_000, silenceMs: 20_000 };
const KEEP_ALIVE_MS = 10_000;
/** Attempts to connect while a command waits, before the command fails. */
const TRIES_PER_COMMAND = 20;
const LONGEST_RETRY_MS = 1_000;

export interface ConnectionsOptions {
  url: string;
  limits?: Partial<ConnectionLimits>;
  /** Called when a connection fails or is lost. @defaultValue ignored */
  onTrouble?: () => void;
}

export type RedisConnections = ReturnType<typeof openConnections>;

export function openConnections({ url, limits, onTrouble = () => undefined }: ConnectionsOptions) {
  const { commandTimeoutMs, silenceMs } = { ...LIMITS, ...limits };
  const open = new Set<Redis>();
  let isCut = false;
  const common: Options = {
    keepAlive: KEEP_ALIVE_MS,
    socketTimeout: silenceMs,
    retryStrategy: (tries) => Math.min(LONGEST_RETRY_MS, 50 * tries + Math.random() * 50),
    // After a failover, the same address may lead to another server.
    reconnectOnError: (error) => classifyRedisError(error) === 'read-only',
  };
  const track = (redis: EndableRedis): Redis => {
    open.add(redis);
    // A connection that ended may connect again: BullMQ does this with a blocked one.
    redis.on('connecting', () => {
      open.add(redis);
      if (isCut) end(redis);
    });
    redis.on('error', onTrouble);
    redis.on('reconnecting', onTrouble);
    redis.on('end', () => {
      redis.rejectUnanswered();
      open.delete(redis);
    });
    // BullMQ duplicates a connection for its blocking reads; the duplicate is tracked too.
    redis.duplicate = (override?: Options) => {
      const options: Options = { ...redis.options, ...override };
      return track(new EndableRedis(options));
    };
    if (isCut) end(redis);
    return redis;
  };
  const connect = (options: Options): Redis => track(new EndableRedis(url, { ...common, ...options }));
  return {
    /** A connection for commands that are answered at once: a command fails when Redis is away for too long. */
    general: (): Redis => connect({ maxRetriesPerRequest: TRIES_PER_COMMAND, commandTimeout: commandTimeoutMs }),
    /** A connection for blocking reads and BullMQ: its commands wait until Redis is back. */
    patient: (): Redis => connect({ maxRetriesPerRequest: null }),
    /** Ends all connections at once: all waiting commands fail, and all later ones. */
    cut(): void {
      isCut = true;
      for (const redis of open) end(redis);
    },
  };
}

/** An ioredis client that can be ended at any time without leaving a command unanswered. */
class EndableRedis extends Redis {
  readonly #unanswered = new Set<Command>();

  override sendCommand(command: Command, stream?: Parameters<Redis['sendCommand']>[1]): unknown {
    if (!this.#unanswered.has(command)) {
      this.#unanswered.add(command);
      const forget = (): unknown => this.#unanswered.delete(command);
      command.promise.then(forget, forget);
      this.#explainWrongType(command);
    }
    this.#gather();
    return super.sendCommand(command, stream);
  }

  /** What is sent until nothing is left to do without waiting is one write: a system call per command costs more than the rest of it. */
  #gather(): void {
    const { stream } = this as { stream?: Redis['stream'] };
    if (stream === undefined || stream.writableCorked > 0) return;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  #explainWrongType(command: Command): void {
    const reject = command.reject;
    command.reject = (error) => {
      if (!/\bWRONGTYPE\b/.test(error.message)) {
        reject(error);
        return;
      }
      const types = command.getKeys().map(async (name) => ({ key: String(name), type: await this.type(name) }));
      Promise.all(types).then(
        (found) => reject(wrongType(found)),
        () => reject(error),
      );
    };
  }

  /**
   * ioredis keeps the commands sent over a lost connection for the next connection. If the client ends before that, it drops
   * them, and their callers would wait without end.
   */
  rejectUnanswered(): void {
    for (const command of this.#unanswered) command.reject(new Error('Connection is closed.'));
  }

  /**
   * Between two attempts to connect there is no socket whose close event would end the client: the commands in its queue would
   * never be answered, and BullMQ would wait for the end. An attempt that is stopped immediately ends the client.
   */
  override disconnect(reconnect = false): void {
    const isBetweenTries = this.status === 'reconnecting';
    super.disconnect(reconnect);
    if (!isBetweenTries || reconnect) return;
    this.connect().catch(() => undefined);
    super.disconnect();
  }
}

function end(redis: Redis): void {
  const { stream } = redis as { stream?: Redis['stream'] };
  redis.disconnect();
  // A silent peer does not answer the closing of the connection either.
  stream?.destroy();
}
