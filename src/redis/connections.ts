/** The connections of a process to its Redis: limits on waiting, and closed at once when a stop cannot wait. */
import { once } from 'node:events';
import type { ClusterNode, Command } from 'ioredis';
import {
  Cluster,
  clusterArguments,
  parseRedisUrl,
  Server,
  serverArguments,
  type ClusterOptions,
  type Options,
  type OwnOptions,
  type Redis,
} from './client.js';
import { classifyRedisError, wrongType } from './errors.js';

export interface ConnectionLimits {
  /** Ms. Longer than the largest commit. Not for workers, whose blocking reads wait on purpose. @defaultValue 15000 */
  commandTimeoutMs: number;
  /** Ms without an answer: the peer is gone. Longer than the longest blocking read (10 s). @defaultValue 20000 */
  silenceMs: number;
}

const LIMITS: ConnectionLimits = { commandTimeoutMs: 15_000, silenceMs: 20_000 };
const KEEP_ALIVE_MS = 10_000;
/** Attempts to connect while a command waits, before the command fails. */
const TRIES_PER_COMMAND = 20;
const LONGEST_RETRY_MS = 1_000;
/** As ioredis says it: callers know it by this text. */
const CLOSED = 'Connection is closed.';

export interface ConnectionsOptions {
  url: string;
  own?: OwnOptions | undefined;
  limits?: Partial<ConnectionLimits>;
  /** Called when a connection fails or is lost. @defaultValue ignored */
  onTrouble?: () => void;
}

export function openConnections({ url, own, limits, onTrouble = () => undefined }: ConnectionsOptions) {
  const { commandTimeoutMs, silenceMs } = { ...LIMITS, ...limits };
  const address = parseRedisUrl(url, own);
  const open = new Set<Endable>();
  let isCut = false;
  const common: Options = {
    keepAlive: KEEP_ALIVE_MS,
    socketTimeout: silenceMs,
    retryStrategy: (tries) => Math.min(LONGEST_RETRY_MS, 50 * tries + Math.random() * 50),
    // After a failover, the same address may lead to another server.
    reconnectOnError: (error) => classifyRedisError(error) === 'read-only',
  };
  const track = <Client extends Endable>(redis: Client): Client => {
    open.add(redis);
    // A connection that ended may connect again: BullMQ does this with a blocked one.
    redis.on('connecting', () => {
      open.add(redis);
      if (isCut) end(redis);
    });
    for (const trouble of ['error', 'reconnecting', 'node error', '-node']) redis.on(trouble, onTrouble);
    redis.on('end', () => {
      redis.unanswered.reject();
      open.delete(redis);
    });
    // BullMQ duplicates a connection for its blocking reads; the duplicate is tracked too.
    redis.duplicated = track;
    if (isCut) end(redis);
    return redis;
  };
  const connect = (options: Options): Redis => {
    const all = { ...common, ...options };
    return address.kind === 'cluster'
      ? track(new EndableCluster(...clusterArguments(address, all)))
      : track(new EndableServer(...serverArguments(address, all)));
  };
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

type Endable = EndableServer | EndableCluster;

/** ioredis drops commands kept for the next connection when the client ends first: callers would wait forever. */
class Unanswered {
  readonly #commands = new Set<Command>();

  /** @returns false if the client sends it again */
  add(command: Command): boolean {
    if (this.#commands.has(command)) return false;
    this.#commands.add(command);
    const forget = (): unknown => this.#commands.delete(command);
    command.promise.then(forget, forget);
    const reject = command.reject;
    command.reject = (error) =>
      reject(/\bWRONGTYPE\b/.test(error.message) ? wrongType(command.getKeys().map(String)) : error);
    return true;
  }

  reject(): void {
    for (const command of this.#commands) command.reject(new Error(CLOSED));
  }
}

/** An ioredis client that can be ended at any time without leaving a command unanswered. */
class EndableServer extends Server {
  readonly unanswered = new Unanswered();
  duplicated: (redis: EndableServer) => Server = (redis) => redis;

  override sendCommand(command: Command, stream?: Parameters<Server['sendCommand']>[1]): unknown {
    this.unanswered.add(command);
    this.#gather();
    return super.sendCommand(command, stream);
  }

  /** Sent as one write until nothing is left to do without waiting: a system call per command is dear. */
  #gather(): void {
    const { stream } = this as { stream?: Server['stream'] };
    if (stream === undefined || stream.writableCorked > 0) return;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  override duplicate = (override?: Options): Server =>
    this.duplicated(new EndableServer({ ...(this.options as Options), ...override }));

  /** Between two attempts no socket's close event would end the client: a stopped attempt ends it. */
  override disconnect(reconnect = false): void {
    const isBetweenTries = this.status === 'reconnecting';
    super.disconnect(reconnect);
    if (!isBetweenTries || reconnect) return;
    this.connect().catch(() => undefined);
    super.disconnect();
  }
}

class EndableCluster extends Cluster {
  readonly unanswered = new Unanswered();
  duplicated: (redis: EndableCluster) => Cluster = (redis) => redis;

  override sendCommand(command: Command, stream?: Parameters<Cluster['sendCommand']>[1], node?: unknown): unknown {
    const limitMs = this.options.redisOptions?.commandTimeout;
    // While no server is known for a command, it waits here and not in the client of a server.
    if (this.unanswered.add(command) && limitMs !== undefined) command.setTimeout(limitMs);
    return super.sendCommand(command, stream, node);
  }

  override duplicate = ((nodes: ClusterNode[] | undefined, override: ClusterOptions) => {
    const { startupNodes } = this as unknown as { startupNodes: ClusterNode[] };
    return this.duplicated(
      new EndableCluster(nodes ?? startupNodes, { ...(this.options as ClusterOptions), ...override }),
    );
  }) as Cluster['duplicate'];

  /** Fails when the connection closes again: ioredis never settles it where the cluster is down; BullMQ would hang. */
  override async connect(): Promise<void> {
    const ready = new AbortController();
    const closed = once(this, 'close', { signal: ready.signal }).then(() => {
      throw new Error(CLOSED);
    });
    try {
      await Promise.race([super.connect(), closed]);
    } finally {
      ready.abort();
    }
  }

  /** Where no node is connected, there is no connection whose end would end the client. */
  override disconnect(reconnect = false): void {
    const hasNodes = this.nodes().length > 0;
    super.disconnect(reconnect);
    if (hasNodes || reconnect) return;
    this.status = 'end';
    this.emit('end');
  }
}

function end(redis: Endable): void {
  const servers = redis instanceof Cluster ? redis.nodes() : [redis];
  const streams = servers.map((server) => (server as { stream?: Server['stream'] }).stream);
  redis.disconnect();
  // A silent peer does not answer the closing of the connection either.
  for (const stream of streams) stream?.destroy();
}
