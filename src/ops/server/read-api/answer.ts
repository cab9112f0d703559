/** A request and its answer as values, so that faults, limits and delays can be layers around the answer. */
import { createHash } from 'node:crypto';

export interface ReadRequest {
  readonly method: string;
  /** The name of the list this path belongs to; null for any other path. */
  readonly list: string | null;
  /** The record id in the path (`/v2/<list>/<id>`); null for the list itself. */
  readonly id: string | null;
  readonly parameters: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  /** Undefined for a request from the same process. */
  readonly remoteAddress?: string | undefined;
  readonly contentType: string | undefined;
  /** Validators of a page that the client has already. */
  readonly ifNoneMatch?: string | undefined;
  readonly signal: AbortSignal;
}

/** How the bytes are sent. Everything but `whole` is a fault; `content-length` is always that of the whole body. */
export type Delivery =
  | { readonly how: 'whole' }
  /** The connection is cut after `afterBytes`. */
  | { readonly how: 'dropped'; readonly afterBytes: number }
  /** Nothing is sent for `ms` after `afterBytes`, then the rest. */
  | { readonly how: 'stalled'; readonly afterBytes: number; readonly ms: number }
  /** `bytes` spaces follow the body: valid JSON that is far too large. */
  | { readonly how: 'padded'; readonly bytes: number };

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly delivery: Delivery;
  readonly delivered?: () => void;
}

export type Answerer = (request: ReadRequest) => Promise<Answer>;
export type Layer = (next: Answerer) => Answerer;

/** The first layer is the outermost. */
export function layered(layers: readonly Layer[], innermost: Answerer): Answerer {
  return layers.reduceRight((next, layer) => layer(next), innermost);
}

const WHOLE: Delivery = { how: 'whole' };
export const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' } as const;

export function jsonAnswer(status: number, body: Buffer, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { ...JSON_TYPE, ...headers }, body, delivery: WHOLE };
}

export function emptyAnswer(status: number): Answer {
  return { status, headers: {}, body: Buffer.alloc(0), delivery: WHOLE };
}

/** The HTML page that a proxy or a framework sends instead of an answer. */
export function htmlAnswer(status: number, title: string): Answer {
  const html = `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: Buffer.from(html), delivery: WHOLE };
}

/** ETag, and the 304 for a client that has the page already: the version of an answer is a digest of its body, so it is the same exactly as long as the bytes are. */
export const withEtag: Layer = (next) => async (request) => {
  const answer = await next(request);
  if (answer.status !== 200 || request.list === null) return answer;
  const etag = `"${createHash('sha256').update(answer.body).digest('hex').slice(0, 24)}"`;
  const named = (request.ifNoneMatch ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  const isKnown = named.includes(etag) || named.includes('*');
  return { ...answer, ...(isKnown && { status: 304, body: Buffer.alloc(0) }), headers: { ...answer.headers, etag } };
};
