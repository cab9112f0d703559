/** One question to the API, asked by the client of the sweep, and the answer as it came: a probe also describes what the client refuses. */
import type { Answer } from '../api/failure.js';
import type { ReadApi } from '../api/read-api.js';
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { ChangefeedError } from '../errors.js';

export interface RawAnswer {
  /** Null when there was no complete answer. */
  readonly answer: Answer | null;
  /** What a failed answer says, shortened and without the token. */
  readonly words: string;
}

export type Ask = (list: ListDescriptor, cursor: string | null) => Promise<RawAnswer>;

/**
 * @param api asks once: it is made with `attempts: 1`
 * @throws what the budget throws, and the signal's reason
 */
export function askOnce({ fetchPage }: Pick<ReadApi, 'fetchPage'>, signal?: AbortSignal): Ask {
  return async (list, cursor) => {
    let answer: Answer | null = null;
    const onAnswer = (one: Answer): void => void (answer = one);
    try {
      await fetchPage(list.name, { cursor, page: 1, kind: 'probe', signal, onAnswer });
      return { answer, words: '' };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ChangefeedError) || !('words' in error.facts)) throw error;
      return { answer, words: String(error.facts['words']) };
    }
  };
}
