/** An OpenTelemetry SDK that keeps its spans in memory, for all tests of a file. */
import { SpanStatusCode } from '@opentelemetry/api';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import {
  BatchSpanProcessor,
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeEach } from 'vitest';

export interface RecordedSpans {
  all(): ReadableSpan[];
  named(name: string): ReadableSpan[];
  /** How many spans a processor of batches would have exported. */
  handedOver(): number;
  /** The names from the root of its trace to the span. */
  pathTo(span: ReadableSpan): string[];
}

/** Call it once at the top of a file, before anything of ours opens. Requests of undici have spans too. */
export function useSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter();
  const later = new InMemorySpanExporter();
  const batches = new BatchSpanProcessor(later, {
    scheduledDelayMillis: 3_600_000,
    maxExportBatchSize: 100_000,
    maxQueueSize: 100_000,
  });
  const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter), batches] });
  provider.register();
  const undici = new UndiciInstrumentation();
  undici.setTracerProvider(provider);
  undici.enable();
  beforeEach(() => {
    exporter.reset();
    later.reset();
  });
  afterAll(async () => {
    undici.disable();
    await provider.shutdown();
  });
  const all = (): ReadableSpan[] => exporter.getFinishedSpans();
  const pathTo = (span: ReadableSpan): string[] => {
    const parent = all().find((one) => one.spanContext().spanId === span.parentSpanContext?.spanId);
    return [...(parent === undefined ? [] : pathTo(parent)), span.name];
  };
  return {
    all,
    handedOver: () => later.getFinishedSpans().length,
    named: (name) => all().filter((span) => span.name === name),
    pathTo,
  };
}

export function traceOf(span: ReadableSpan): string {
  return span.spanContext().traceId;
}

/** As in the header. */
export function traceparentOf(span: ReadableSpan): string {
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}

/** `ok`, or the type of the error. */
export function outcomeOf({ status }: ReadableSpan): string {
  return status.code === SpanStatusCode.ERROR ? (status.message ?? '') : 'ok';
}
