/** ETag, and the 304 for a client that has the page already. */
import { createHash } from 'node:crypto';
import type { Answer, Layer, ReadRequest } from './answer.js';

/** The version of an answer is a digest of its body, so it is the same exactly as long as the bytes are. */
export const withEtag: Layer = (next) => async (request) => {
  const answer = await next(request);
  if (answer.status !== 200 || request.list === null) return answer;
  const etag = `"${digestOf(answer.body)}"`;
  const headers = { ...answer.headers, etag };
  return isNamed(request, etag) ? { ...notModified(answer), headers } : { ...answer, headers };
};

export function digestOf(body: Buffer | string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 24);
}

/** `If-None-Match` names this version, or any (`*`). */
export function isNamed({ ifNoneMatch = '' }: Pick<ReadRequest, 'ifNoneMatch'>, etag: string): boolean {
  return ifNoneMatch.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
}

/** Without the headers. */
function notModified({ delivery, delivered }: Answer): Omit<Answer, 'headers'> {
  return { status: 304, body: Buffer.alloc(0), delivery, ...(delivered !== undefined && { delivered }) };
}
