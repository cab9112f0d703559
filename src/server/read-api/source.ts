/** Where the records of the six lists come from, as a port: the sandbox is one source, the mirror another. */

export interface PageQuery {
  readonly list: string;
  /** The `cursor` parameter; null for the first page. */
  readonly cursor: string | null;
  /** All query parameters as they came. The interface knows `cursor` alone; a source with an extension reads more. */
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
  /** The whole body, envelope included (`envelope.ts` makes it): a page that has not changed is not serialised again. */
  readonly body: Buffer;
  /** Added to the answer, for example how fresh the list is. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called once the last byte has been handed to the connection; never for an answer that did not get through whole. */
  readonly delivered?: () => void;
}

export interface SourceFailure {
  readonly outcome: 'failure';
  readonly status: number;
  readonly message: string;
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** `empty`: no body at all, as seen in the wild for some 400s. @defaultValue 'json' */
  readonly form?: 'json' | 'empty';
}

export type SourceAnswer = SourcePage | SourceFailure;

/** The records of one workspace. Whatever it cannot answer it says as a failure; what it throws becomes a 500. */
export interface Source {
  page(query: PageQuery): Promise<SourceAnswer>;
  /** An extension apart from the written interface: `GET /v2/<list>/<id>`. A source without it answers 404. */
  record?(query: RecordQuery): Promise<SourceAnswer>;
}

/** Which workspace a bearer token opens; null when it opens none. */
export type Sources = (token: string) => Source | null;
