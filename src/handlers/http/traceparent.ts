/**
 * Where undici is instrumented, each request gets a span and the `traceparent` of that span, appended to the one that we send. A receiver must
 * ignore a header that comes twice (W3C Trace Context, 3.2). The appended one is kept: its span is a child of ours.
 */
import { subscribe } from 'node:diagnostics_channel';

const NAME = 'traceparent';
let subscribed = false;

/** Subscribes at the first call only, and so after the instrumentation of the process. */
export function keepLastTraceparent(): void {
  if (subscribed) return;
  subscribed = true;
  subscribe('undici:request:create', (message) => {
    const { headers } = (message as { request: { headers: unknown } }).request;
    if (Array.isArray(headers)) dropAllButLast(headers);
  });
}

/** Names alternate with values. */
function dropAllButLast(headers: unknown[]): void {
  let found = false;
  for (let at = headers.length - 2; at >= 0; at -= 2) {
    if (headers[at] !== NAME) continue;
    if (found) headers.splice(at, 2);
    found = true;
  }
}
