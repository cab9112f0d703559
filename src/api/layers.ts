/** The client is a stack of layers around one try. Each layer adds one behaviour and does not know the others. */
import type { ListName } from '../crm/lists/lists.js';
import type { RequestKind } from './budget.js';
import type { Answer } from './failure.js';
import type { FetchedPage, KnownPage } from './read-api.js';
import { redactError, type Redact } from './redact.js';

export interface PageRequest extends KnownPage {
  readonly list: ListName;
  readonly cursor: string | null;
  readonly kind: RequestKind;
  readonly value?: ((nowMs: number) => number) | undefined;
  /** Number of the page within its walk, from 1. */
  readonly page: number;
  /** 1 for the first try of this page. */
  readonly attempt: number;
  readonly signal: AbortSignal | undefined;
  /** Receives the answer as it came, before its page is read. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined;
  /** How long this try waited for the budget. */
  readonly waitedMs?: number | undefined;
}

export type FetchPage = (request: PageRequest) => Promise<FetchedPage>;
export type Layer = (next: FetchPage) => FetchPage;

/** The first layer is the outermost. */
export function compose(layers: readonly Layer[], innermost: FetchPage): FetchPage {
  return layers.reduceRight((next, layer) => layer(next), innermost);
}

/** The outermost layer: no error leaves the client with the token in it. */
export function withRedaction(redact: Redact): Layer {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      // After an abort, the caller gets its own reason back unchanged.
      request.signal?.throwIfAborted();
      throw redactError(error, redact);
    }
  };
}
