/** ETag, and the 304 for a client that has the page already. */
import { createHash } from 'node:crypto';
import type { Layer } from './answer.js';

/** The version of an answer is a digest of its body, so it is the same exactly as long as the bytes are. */
export const withEtag: Layer = (next) => async (request) => {
  const answer = await next(request);
  if (answer.status !== 200 || request.list === null) return answer;
  const etag = `"${createHash('sha256').update(answer.body).digest('hex').slice(0, 24)}"`;
  const named = (request.ifNoneMatch ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  const isKnown = named.includes(etag) || named.includes('*');
  return { ...answer, ...(isKnown && { status: 304, body: Buffer.alloc(0) }), headers: { ...answer.headers, etag } };
};
