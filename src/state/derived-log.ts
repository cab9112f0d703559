/** Where derive functions append to the log. */
import type { Redis } from 'ioredis';
import type { ChangeEvent } from '../events/types.js';
import { unexpectedAnswer, words } from './answer.js';
import type { Keys } from './keys.js';
import { loadScript } from './scripts.js';

const appendDerived = loadScript('append-derived');

/** As long as the marks of `once`: longer than any retry or replay is likely to come. */
const MARK_MS = 30 * 86_400_000;

export interface DerivedCall {
  workspace: string;
  derive: string;
  /** The id of the event that they were made from. */
  source: string;
}

/** Appends the events that a function made of a source. `before`: it has done so already; nothing is appended. */
export async function appendOnce(
  { redis, keys }: { redis: Redis; keys: Keys },
  { workspace, derive, source }: DerivedCall,
  events: readonly ChangeEvent[],
): Promise<'appended' | 'before'> {
  const touched = [keys.log(workspace), keys.derived(workspace, derive, source)];
  const args = [MARK_MS, ...events.map((event) => JSON.stringify(event))];
  const [word] = words(appendDerived, await appendDerived.run(redis, touched, args));
  if (word === 'appended' || word === 'before') return word;
  throw unexpectedAnswer(appendDerived, word);
}
