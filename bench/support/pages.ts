/** Starts the page server and gives it commands. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ChangeCommand {
  readonly do: 'change';
  readonly where: 'few pages' | 'random' | 'all';
  /** Of the records. */
  readonly share: number;
}

/** A sliding window, out of which another client takes requests. */
export interface LimitCommand {
  readonly do: 'limit';
  readonly requests: number;
  readonly perMs: number;
  readonly foreignPerSecond: number;
}

export type PageServerCommand =
  | ChangeCommand
  /** A delay before every answer. */
  | { readonly do: 'latency'; readonly ms: number }
  | LimitCommand
  | { readonly do: 'reset' }
  | { readonly do: 'stats' };

export type PageServerReply = Readonly<Record<string, unknown>>;

export interface PageServer {
  readonly url: string;
  /** Path and query of every page, in the order of the list. */
  readonly paths: readonly string[];
  /** Size of all bodies when the server started. */
  readonly bytes: number;
  change(where: ChangeCommand['where'], share: number): Promise<{ records: number; pages: number }>;
  delay(ms: number): Promise<void>;
  /** Forgets the numbers of `stats`. */
  reset(): Promise<void>;
  limit(limit: Omit<LimitCommand, 'do'>): Promise<void>;
  /** Requests since `reset`, how many of them got 429, and how many were in flight at most. */
  stats(): Promise<{ peak: number; requests: number; refused: number }>;
  close(): Promise<void>;
}

export async function startPages(records: number): Promise<PageServer> {
  const child = fork(fileURLToPath(new URL(`./page-server${extname(import.meta.url)}`, import.meta.url)), [
    String(records),
  ]);
  const started = (await once(child, 'message')) as [Pick<PageServer, 'url' | 'paths' | 'bytes'>];
  const ask = async <T>(command: PageServerCommand): Promise<T> => {
    const replied = once(child, 'message') as Promise<[T]>;
    child.send(command);
    return (await replied)[0];
  };
  return {
    ...started[0],
    change: (where, share) => ask({ do: 'change', where, share }),
    delay: (ms) => ask({ do: 'latency', ms }),
    limit: (limit) => ask({ do: 'limit', ...limit }),
    reset: () => ask({ do: 'reset' }),
    stats: () => ask({ do: 'stats' }),
    close: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
