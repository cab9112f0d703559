/** Where lines go. */
export interface Sink {
  /** What it is, for messages: `standard output`, or the file's path. */
  readonly target: string;
  /** Resolves once the line, or several, are handed over whole; rejects when they could not be. `lines` ends with a newline. */
  write(lines: string): Promise<void>;
  /** Waits for what is under way and lets go; a sink written to afterwards opens again. */
  close(): Promise<void>;
}
