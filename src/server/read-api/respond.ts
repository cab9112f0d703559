/** Checks a request against sections 4 and 5 of the interface, then asks the source. Does not depend on an HTTP server. */
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
import type { Attempts } from '../http/attempts.js';
import { failureBody, type Failure } from './envelope.js';
import type { Source, SourceAnswer, Sources } from './source.js';

/** How the server answers where the interface does not say: one switch per open point. */
export interface Protocol {
  /** Answer to an unknown path. @defaultValue 'html', as the real service does */
  readonly unknownPath: 'html' | 'json' | 'empty';
  /** Answer to a method other than GET on a list. @defaultValue 'json' (405) */
  readonly unknownMethod: 'html' | 'json' | 'empty';
  /** A missing or wrong token. @defaultValue 'reason': `{success, message, reason}` */
  readonly badToken: 'reason' | 'message' | 'empty';
  /** Section 5 says every request carries `Content-Type: application/json`. @defaultValue 'required' (400 without it) */
  readonly contentType: 'required' | 'ignored';
}

export const DEFAULT_PROTOCOL: Protocol = {
  unknownPath: 'html',
  unknownMethod: 'json',
  badToken: 'reason',
  contentType: 'required',
};

export interface RespondOptions {
  sources: Sources;
  /** Read at every request, so that it can change while the server runs. */
  protocol: () => Protocol;
  /** Around every request with a good token: limits, delays, faults. */
  layers: readonly Layer[];
  /** Limits wrong tokens. */
  attempts?: Attempts | undefined;
}

export function responder({ sources, protocol, layers, attempts }: RespondOptions): Answerer {
  return async (request) => {
    const token = bearerOf(request.authorization);
    const source = token === null ? null : sources(token);
    if (source === null) {
      const { authorization, remoteAddress = '' } = request;
      if (token !== null && attempts?.wrong(remoteAddress) === 'too many') return TOO_MANY;
      return unauthorised(authorization, protocol());
    }
    return await layered(layers, (inner) => answerAsWritten(inner, source, protocol()))(request);
  };
}

export function unauthorised(authorization: string | undefined, { badToken }: Pick<Protocol, 'badToken'>): Answer {
  if (badToken === 'empty') return emptyAnswer(401);
  const reason = authorization === undefined ? 'Authorization 헤더가 없습니다.' : '유효하지 않은 토큰입니다.';
  return refusal(401, { message: 'Unauthorized', ...(badToken === 'reason' && { reason }) });
}

const TOO_MANY = refusal(
  429,
  { message: 'Too Many Requests', reason: 'Too many wrong tokens. Wait a minute.' },
  { 'retry-after': '60' },
);

async function answerAsWritten(request: ReadRequest, source: Source, protocol: Protocol): Promise<Answer> {
  const { list, id, method } = request;
  const byId = id === null ? undefined : source.record?.bind(source);
  if (list === null || (id !== null && byId === undefined)) {
    return inForm(protocol.unknownPath, 404, 'Not Found');
  }
  if (method !== 'GET') return inForm(protocol.unknownMethod, 405, 'Method Not Allowed');
  if (protocol.contentType === 'required' && !isJson(request.contentType)) {
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

function inForm(form: 'html' | 'json' | 'empty', status: number, message: string): Answer {
  if (form === 'html') return htmlAnswer(status, `${status} ${message}`);
  return form === 'empty' ? emptyAnswer(status) : refusal(status, { message });
}

/** A failure in the body of section 7. */
export function refusal(status: number, failure: Failure, headers?: Readonly<Record<string, string>>): Answer {
  return jsonAnswer(status, failureBody(failure), headers);
}
