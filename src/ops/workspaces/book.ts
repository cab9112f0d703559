/**
 * The workspaces that came at run time, as Redis keeps them: what was put, and what is to become of it. Each process reads the book when its revision
 * is another one (service/running-workspaces.ts).
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ChangefeedError } from '../../kit/errors.js';
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import { loadScript } from '../../redis/scripts.js';
import { jsonOrNull } from '../../redis/stored.js';

const writeWorkspace = loadScript('write-workspace', import.meta.url);

/** No name of a workspace begins so. */
const REVISION = ':revision';
const RETRIES = 20;

export const WORKSPACE_STATES = ['active', 'paused', 'removed', 'erasing'] as const;

const entrySchema = z.object({
  /** As they were put, without name, token and data: they are checked again where they are taken over. */
  options: z.looseObject({ baseUrl: z.string() }),
  /** Token and data (seal.ts). */
  sealed: z.string(),
  /** `removed`: not polled, and its events are delivered; `erasing`: no process works on it. */
  state: z.enum(WORKSPACE_STATES),
  /** ISO 8601: since when it is in this state. */
  since: z.string(),
  /** ISO 8601, of `removed`: when everything of it is erased. */
  eraseAt: z.string().optional(),
});
export type WorkspaceEntry = z.output<typeof entrySchema>;

export type WorkspaceBook = ReturnType<typeof createWorkspaceBook>;

export interface BookPage {
  revision: string | null;
  /** Null: what is stored cannot be read. */
  entries: ReadonlyMap<string, { text: string; entry: WorkspaceEntry | null }>;
}

export function createWorkspaceBook({ redis, keys }: { redis: Redis; keys: Keys }) {
  const key = keys.workspaces();
  const read = async (name: string): Promise<{ text: string; entry: WorkspaceEntry | null }> => {
    const text = (await redis.hget(key, name)) ?? '';
    return { text, entry: entryIn(text) };
  };
  return {
    read,
    /** Null: there is no book. */
    revision: (): Promise<string | null> => redis.hget(key, REVISION),
    async readAll(): Promise<BookPage> {
      const { [REVISION]: revision = null, ...texts } = await redis.hgetall(key);
      const entries = Object.entries(texts).map(([name, text]) => [name, { text, entry: entryIn(text) }] as const);
      return { revision, entries: new Map(entries) };
    },
    /** @param change makes the entry of the one that is there; null removes it. @returns the new one */
    async change(
      name: string,
      change: (before: WorkspaceEntry | null) => WorkspaceEntry | null,
    ): Promise<WorkspaceEntry | null> {
      for (let tries = 0; tries < RETRIES; tries += 1) {
        const { text, entry } = await read(name);
        const next = change(entry);
        const args = [name, text, next === null ? '' : JSON.stringify(next), randomUUID()];
        if ((await writeWorkspace.run(redis, [key], args)) === 1) return next;
      }
      const message = `The workspace "${name}" is changed by others all the time. Try again.`;
      throw new ChangefeedError('CF_WORKSPACE_BUSY', { workspace: name, message });
    },
  };
}

function entryIn(text: string): WorkspaceEntry | null {
  return entrySchema.safeParse(jsonOrNull(text)).data ?? null;
}
