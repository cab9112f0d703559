/** Called by digest, sent whole when unknown to Redis. `--- @include "x"` stands for the file `x.lua` of the folder `lua` beside this one. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ChangefeedError, describe } from '../kit/errors.js';
import type { Redis } from './client.js';

type Arguments = readonly (string | Buffer | number)[];

export interface Script {
  readonly name: string;
  run(redis: Redis, keys: readonly string[], args: Arguments): Promise<unknown>;
  /** Like `run`, with Buffers in place of strings: for answers that are not valid UTF-8. */
  runBuffer: Script['run'];
}

/**
 * @param name the file `lua/<name>.lua` beside the caller; its header is the contract of keys, arguments and return value
 * @param caller `import.meta.url` of the caller
 * @param source the build writes it into the call: a bundle of a program has no files beside it. @defaultValue what the file has
 */
export function loadScript(name: string, caller: string, source = sourceOf(name, caller)): Script {
  const sha = createHash('sha1').update(source).digest('hex');
  const runWith =
    (call: 'call' | 'callBuffer'): Script['run'] =>
    async (redis, keys, args) => {
      // One array: 100,000 arguments spread into the call would overflow the stack.
      const rest = [keys.length, ...keys, ...args];
      try {
        return await redis[call]('EVALSHA', [sha, ...rest]);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return await redis[call]('EVAL', [source, ...rest]);
      }
    };
  return { name, run: runWith('call'), runBuffer: runWith('callBuffer') };
}

function sourceOf(name: string, caller: string): string {
  const read = (file: string, beside: string): string => readFileSync(new URL(`./lua/${file}.lua`, beside), 'utf8');
  return read(name, caller).replace(/^--- @include "([a-z-]+)"$/gmu, (_line, shared: string) =>
    read(shared, import.meta.url),
  );
}

/** A script's return value as strings; the first one names the outcome. */
export function words(script: Script, answer: unknown): [word: string, ...rest: string[]] {
  if (Array.isArray(answer) && answer.length > 0) {
    const [word, ...rest] = answer.map(String);
    if (word !== undefined) return [word, ...rest];
  }
  throw unexpectedAnswer(script, describe(answer));
}

export function unexpectedAnswer(script: Script, found: string): ChangefeedError {
  return new ChangefeedError('CF_INTERNAL', {
    script: script.name,
    message: `Script "${script.name}" returned ${found}, which its caller does not know. Run one release of Changefeed against one Redis.`,
  });
}
