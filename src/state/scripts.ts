/** Lua as files: loaded once, called by digest, sent whole when Redis does not know it yet. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

export interface Script {
  readonly name: string;
  run(redis: Redis, keys: readonly string[], args: readonly (string | Buffer | number)[]): Promise<unknown>;
  /** Like `run`, for answers that are no texts: every one comes as a Buffer. */
  runBuffer(redis: Redis, keys: readonly string[], args: readonly (string | Buffer | number)[]): Promise<unknown>;
}

/** @param name the file `lua/<name>.lua`, whose header is the contract of its keys, arguments and answers */
export function loadScript(name: string): Script {
  const source = readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
  const sha = createHash('sha1').update(source).digest('hex');
  return {
    name,
    run(redis, keys, args) {
      // One array: spread into the call, 100,000 arguments overflow the stack.
      const rest = [keys.length, ...keys, ...args];
      return orLoaded(redis.call('EVALSHA', [sha, ...rest]), () => redis.call('EVAL', [source, ...rest]));
    },
    runBuffer(redis, keys, args) {
      const rest = [keys.length, ...keys, ...args];
      return orLoaded(redis.callBuffer('EVALSHA', [sha, ...rest]), () => redis.callBuffer('EVAL', [source, ...rest]));
    },
  };
}

async function orLoaded(answer: Promise<unknown>, load: () => Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return await load();
  }
}
