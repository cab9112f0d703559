/** The people who are invited to the status page, each with a token of their own. Only a digest of the token is stored: it cannot be shown again. */
import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isoTime, type Clock } from '../kit/clock.js';
import { usage } from '../kit/errors.js';
import type { Redis } from '../redis/client.js';
import type { Keys } from '../redis/keys.js';
import { jsonOrNull } from '../redis/stored.js';

const invited = z.object({
  role: z.enum(['read', 'operate']),
  digest: z.string(),
  since: z.string(),
  until: z.string(),
  /** They see this workspace and nothing else. */
  workspace: z.string().optional(),
});

/** A person who is invited, as it is stored. */
export type Invited = { name: string } & z.output<typeof invited>;

/** 256 bits: guessing is hopeless, so a plain digest is enough. */
const TOKEN_BYTES = 32;
/** Each process that serves a page holds all of them. */
const MOST = 1_000;

export type Invites = ReturnType<typeof createInvites>;

export function createInvites({ redis, keys, clock }: { redis: Redis; keys: Keys; clock: Clock }) {
  const key = keys.invites();
  let known: readonly Invited[] = [];
  const isOver = ({ until }: Invited): boolean => Date.parse(until) <= clock.now();
  const read = async (): Promise<readonly Invited[]> => {
    const stored = Object.entries(await redis.hgetall(key));
    // What cannot be read lets nobody in.
    const readable = stored.flatMap(([name, text]) => {
      const { data } = invited.safeParse(jsonOrNull(text));
      return data === undefined ? [] : [{ name, ...data }];
    });
    known = readable.sort((one, other) => one.name.localeCompare(other.name));
    return known;
  };
  return {
    read,
    /** As they were read last, without those whose time is over. */
    known: (): readonly Invited[] => known.filter((one) => !isOver(one)),
    /** @throws ChangefeedError CF_USAGE for a name that is invited */
    async add({ name, role, forMs, workspace }: Pick<Invited, 'name' | 'role' | 'workspace'> & { forMs: number }) {
      const before = await read();
      const over = before.filter(isOver).map((one) => one.name);
      if (over.length > 0) await redis.hdel(key, ...over);
      if (before.length - over.length >= MOST) throw usage(`invite: ${MOST} people are invited; revoke some first.`);
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      const [since, until] = [isoTime(clock.now()), isoTime(clock.now() + forMs)];
      const stored = JSON.stringify({ role, digest: digestOfToken(token), since, until, workspace });
      if ((await redis.hsetnx(key, name, stored)) === 0)
        throw usage(`invite: "${name}" is invited already; revoke that first, or choose another name.`);
      await read();
      return { name, role, since, until, workspace, token };
    },
    /** @returns whether there was one */
    async revoke(name: string): Promise<boolean> {
      const removed = await redis.hdel(key, name);
      await read();
      return removed === 1;
    },
  };
}

export function digestOfToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
