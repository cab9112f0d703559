/** Starts the page server and gives it commands. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface ChangeCommand {
  readonly do: 'change';
  readonly where: 'few pages' | 'random' | 'all';
  /** The share of the records. */
  readonly share: number;
}

/** A sliding window, out of which another client takes requests. */
interface Limit {
  readonly requests: number;
  readonly perMs: number;
  readonly foreignPerSecond: number;
}

export interface LimitCommand extends Limit {
  readonly do: 'limit';
}

export type PageServerCommand =
  | ChangeCommand
  /** A delay before every answer. */
  | { readonly do: 'latency'; readonly ms: number }
  | LimitCommand
  | { readonly do: 'reset' }
  | { readonly do: 'stats' };

export type PageServerReply = Readonly<Record<string, unknown>>;

interface Started {
  readonly url: string;
  /** Path and query of every page, in the order of the list. */
  readonly paths: readonly string[];
  /** Size of all bodies when the server started. */
  readonly bytes: number;
}

export type PageServer = Awaited<ReturnType<typeof startPages>>;

export async function startPages(records: number) {
  const child = fork(fileURLToPath(new URL(`./page-server${extname(import.meta.url)}`, import.meta.url)), [
    String(records),
  ]);
  const [started] = (await once(child, 'message')) as [Started];
  const ask = async <T>(command: PageServerCommand): Promise<T> => {
    const replied = once(child, 'message') as Promise<[T]>;
    child.send(command);
    return (await replied)[0];
  };
  return {
    ...started,
    change: (where: ChangeCommand['where'], share: number) =>
      ask<{ records: number; pages: number }>({ do: 'change', where, share }),
    delay: (ms: number) => ask({ do: 'latency', ms }),
    limit: (limit: Limit) => ask({ do: 'limit', ...limit }),
    /** Forgets the numbers of `stats`. */
    reset: () => ask({ do: 'reset' }),
    /** Requests since `reset`, how many of them got 429, and how many were in flight at most. */
    stats: () => ask<{ peak: number; requests: number; refused: number }>({ do: 'stats' }),
    close: () => ended(child),
  };
}

async function ended(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill();
  await exited;
}
