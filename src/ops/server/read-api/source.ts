/** The port through which the read API server gets its records. The sandbox and the mirror implement it. */

export interface PageQuery {
  readonly list: string;
  /** The `cursor` parameter; null for the first page. */
  readonly cursor: string | null;
  /** All query parameters. The interface defines only `cursor`; a source with an extension reads others. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Aborts when the server closes. */
  readonly signal: AbortSignal;
}

export interface RecordQuery {
  readonly list: string;
  readonly id: string;
  readonly signal: AbortSignal;
}

export interface SourcePage {
  readonly outcome: 'page';
  /** The whole body with its envelope (see `envelope.ts`), so that a source can cache a page that has not changed. */
  readonly body: Buffer;
  /** Added to the answer, for example how fresh the list is. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when the last byte has been passed to the connection; never for an incomplete answer. */
  readonly delivered?: () => void;
}

export interface SourceFailure {
  readonly outcome: 'failure';
  readonly status: number;
  readonly message: string;
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `empty`: no body, as some real 400 answers. @defaultValue 'json' */
  readonly form?: 'json' | 'empty';
}

export type SourceAnswer = SourcePage | SourceFailure;

/** The records of one workspace. Expected problems are returned as failures; a thrown error becomes a 500. */
export interface Source {
  page(query: PageQuery): Promise<SourceAnswer>;
  /** An extension of the interface: `GET /v2/<list>/<id>`. Without it the server answers 404. */
  record?(query: RecordQuery): Promise<SourceAnswer>;
}

/** The workspace that a bearer token belongs to; null for an unknown token. */
export type Sources = (token: string) => Source | null;
