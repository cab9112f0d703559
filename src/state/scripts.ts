/** Lua as files: loaded once, called by digest, sent whole when Redis does not know it yet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

export interface Script {
  readonly name: string;
  run(redis: Redis, keys: readonly string[], args: readonly (string | Buffer | number)[]): Promise<unknown>;
}

/** @param name the file `lua/<name>.lua`, whose header is the contract of its keys, arguments and answers */
export function loadScript(name: string): Script {
  const source = readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
  const sha = createHash('sha1').update(source).digest('hex');
  return {
    name,
    async run(redis, keys, args) {
      const rest = [...keys, ...args];
      try {
        return await redis.evalsha(sha, keys.length, ...rest);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return await redis.eval(source, keys.length, ...rest);
      }
    },
  };
}
