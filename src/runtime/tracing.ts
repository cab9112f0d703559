/**
 * What the parts of a process report for its traces. OpenTelemetry implements it (src/observability/open-telemetry.ts) where the
 * configuration switches it on. Attributes name things and count them; they never hold contents of records, or tokens.
 */
export interface SpanOptions {
  name: string;
  /** `producer` puts events into a log, `consumer` hands them to a handler. @defaultValue 'internal' */
  kind?: 'internal' | 'producer' | 'consumer';
  attributes: Readonly<Record<string, string | number | boolean | undefined>>;
  /** `active`: the span that the caller runs in. Otherwise a W3C `traceparent`; null begins a trace. @defaultValue 'active' */
  parent?: 'active' | (string & {}) | null;
  /** W3C `traceparent`s of spans that led to this one and are not its parent. */
  links?: readonly (string | undefined)[];
  /** Whether an error only shows that we stopped the work. Then the span has not failed. */
  interrupted?: () => boolean;
}

export interface Span {
  /** Names this span in W3C's form, for what follows from it. Undefined while nothing records traces. */
  readonly traceparent: string | undefined;
  set(attributes: SpanOptions['attributes']): void;
  /** For a failure that is not thrown. */
  fail(error: unknown): void;
}

export interface Tracing {
  /**
   * Runs something as a span, which is the active one meanwhile. `run` is called at once. An error fails the span and is thrown on.
   * @param options called only where telemetry is on: for a short handler, describing the attempt costs as much as the handler
   */
  span<T>(options: () => SpanOptions, run: (span: Span) => Promise<T>): Promise<T>;
  /** Hands over the spans that are not exported yet: a process that ends would lose them. Never rejects. */
  flush(): Promise<void>;
}

const NO_SPAN: Span = { traceparent: undefined, set: () => undefined, fail: () => undefined };

/** For a process without telemetry. */
export const untraced: Tracing = {
  span: (_options, run) => run(NO_SPAN),
  flush: () => Promise.resolve(),
};
