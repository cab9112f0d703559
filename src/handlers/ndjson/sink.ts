/** A destination for lines. */
export interface Sink {
  /** For messages: `standard output`, or the file's path. */
  readonly target: string;
  /** Resolves when all lines are handed over; rejects if they could not be. `lines` ends with a newline. */
  write(lines: string): Promise<void>;
  /** Waits for writes in progress and closes; a later write opens the sink again. */
  close(): Promise<void>;
}
