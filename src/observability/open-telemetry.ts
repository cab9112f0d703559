/**
 * Writes traces through the API of OpenTelemetry. Sampling and export are decided by the SDK, which the user sets up before this process
 * loads its configuration. Loaded only where telemetry is on: `@opentelemetry/api` is an optional package.
 */
import {
  context,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Context,
  type Link,
  type Span as OtelSpan,
  type SpanContext,
  type Tracer,
} from '@opentelemetry/api';
import { withinTime } from '../runtime/clock.js';
import type { Span, SpanOptions, Tracing } from '../runtime/tracing.js';

const SCOPE = 'crm-changefeed';
const KINDS = { internal: SpanKind.INTERNAL, producer: SpanKind.PRODUCER, consumer: SpanKind.CONSUMER } as const;

/** An exporter that does not answer must not hold up the stop. */
const FLUSH_MS = 2_000;

/** The API's own provider passes on to that of the SDK, which may come later or never. */
interface PassingProvider {
  getDelegateTracer?: (name: string) => Tracer | undefined;
  getDelegate?: () => object;
}

function providerOf(): PassingProvider {
  return trace.getTracerProvider() as PassingProvider;
}

/** Without an SDK, the API accepts all spans and drops them. */
export function hasSdk(): boolean {
  const provider = providerOf();
  return provider.getDelegateTracer === undefined || provider.getDelegateTracer(SCOPE) !== undefined;
}

export function createOpenTelemetry({ version }: { version: string }): Tracing {
  const tracer = trace.getTracer(SCOPE, version);
  return {
    async span(describe, run) {
      const { interrupted = () => false, ...options } = describe();
      const parent = parentOf(options);
      const { name, kind = 'internal', attributes } = options;
      const span = tracer.startSpan(name, { kind: KINDS[kind], attributes, links: linksOf(options) }, parent);
      try {
        return await context.with(trace.setSpan(parent, span), () => run(spanOf(span)));
      } catch (error) {
        if (!interrupted()) fail(span, error);
        throw error;
      } finally {
        span.end();
      }
    },
    async flush() {
      // No part of the API; every SDK for Node has it.
      const sdk = (providerOf().getDelegate?.() ?? providerOf()) as { forceFlush?: () => Promise<void> };
      const flushed = Promise.resolve().then(() => sdk.forceFlush?.());
      await withinTime(
        flushed.catch(() => undefined),
        FLUSH_MS,
      );
    },
  };
}

function parentOf({ parent = 'active' }: SpanOptions): Context {
  if (parent === 'active') return context.active();
  const named = parent === null ? null : parseTraceparent(parent);
  return named === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, named);
}

function linksOf({ parent = 'active', links = [], kind }: SpanOptions): Link[] {
  const named = links.map((one) => (one === undefined ? null : parseTraceparent(one)));
  // The job's own span, where BullMQ writes spans too. The event's trace is the parent, not the job.
  const active = kind === 'consumer' && parent !== 'active' ? trace.getActiveSpan()?.spanContext() : undefined;
  return [...named, active].filter((one) => one != null).map((one) => ({ context: one }));
}

function spanOf(span: OtelSpan): Span {
  return {
    traceparent: formatTraceparent(span.spanContext()),
    set: (attributes) => void span.setAttributes(attributes),
    fail: (error) => {
      fail(span, error);
    },
  };
}

/** Only the type: the message of a handler's error, or of an endpoint, may contain what a record contains. The log has the message. */
function fail(span: OtelSpan, error: unknown): void {
  const type = typeOf(error);
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
}

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && CODE.test(code) ? code : error.constructor.name;
}

// Flags of later versions of the format are unknown to us; the first bit stays what it is.
const TRACEPARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;

function parseTraceparent(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const named = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(named) ? named : null;
}

function formatTraceparent(named: SpanContext): string | undefined {
  if (!isSpanContextValid(named)) return undefined;
  return `00-${named.traceId}-${named.spanId}-0${named.traceFlags & TraceFlags.SAMPLED}`;
}
