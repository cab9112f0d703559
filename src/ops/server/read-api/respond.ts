/** Checks a request against sections 4 and 5 of the interface, then asks the source. Needs no HTTP server. */
import {
  emptyAnswer,
  htmlAnswer,
  jsonAnswer,
  layered,
  type Answer,
  type Answerer,
  type Layer,
  type ReadRequest,
} from './answer.js';
import { bearerOf } from '../http/access.js';
import type { Attempts } from '../http/limits.js';
import { failureBody, type Failure } from './envelope.js';
import type { Source, SourceAnswer, Sources } from './source.js';

export interface RespondOptions {
  sources: Sources;
  /** Around every request with a good token: limits, delays, faults. */
  layers: readonly Layer[];
  attempts?: Attempts | undefined;
}

export function responder({ sources, layers, attempts }: RespondOptions): Answerer {
  return async (request) => {
    const token = bearerOf(request.authorization);
    const source = token === null ? null : sources(token);
    if (source === null) {
      const { authorization, remoteAddress = '' } = request;
      if (token !== null && attempts?.wrong(remoteAddress) === 'too many') return TOO_MANY;
      return unauthorised(authorization);
    }
    return await layered(layers, (inner) => answerAsWritten(inner, source))(request);
  };
}

export function unauthorised(authorization: string | undefined): Answer {
  const reason = authorization === undefined ? 'Authorization 헤더가 없습니다.' : '유효하지 않은 토큰입니다.';
  return refusal(401, { message: 'Unauthorized', reason });
}

const TOO_MANY = refusal(
  429,
  { message: 'Too Many Requests', reason: 'Too many wrong tokens. Wait a minute.' },
  { 'retry-after': '60' },
);

async function answerAsWritten(request: ReadRequest, source: Source): Promise<Answer> {
  const { list, id, method } = request;
  const byId = id === null ? undefined : source.record?.bind(source);
  // As the real service does.
  if (list === null || (id !== null && byId === undefined)) return htmlAnswer(404, '404 Not Found');
  if (method !== 'GET') return refusal(405, { message: 'Method Not Allowed' });
  // Section 5 says every request carries it.
  if (!isJson(request.contentType)) {
    return refusal(400, { message: 'Bad Request', reason: 'Content-Type must be application/json.' });
  }
  const { parameters, signal } = request;
  if (id !== null && byId !== undefined) return toAnswer(await byId({ list, id, signal }));
  // An empty cursor means the first page.
  const cursor = parameters['cursor'] === '' ? null : (parameters['cursor'] ?? null);
  return toAnswer(await source.page({ list, cursor, parameters, signal }));
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType);
}

function toAnswer(answer: SourceAnswer): Answer {
  if (answer.outcome === 'page') {
    const page = jsonAnswer(200, answer.body, answer.headers);
    return answer.delivered === undefined ? page : { ...page, delivered: answer.delivered };
  }
  if (answer.form === 'empty') return emptyAnswer(answer.status);
  const { message, reason } = answer;
  return refusal(answer.status, { message, ...(reason !== undefined && { reason }) }, answer.headers);
}

export function refusal(status: number, failure: Failure, headers?: Readonly<Record<string, string>>): Answer {
  return jsonAnswer(status, failureBody(failure), headers);
}
