/** Where lines go. */
export interface Sink {
  /** What it is, for messages: `standard output`, or the file's path. */
  readonly target: string;
  /** Resolves once the line is handed over whole; rejects when it could not be. `line` ends with a newline. */
  write(line: string): Promise<void>;
  /** Waits for what is under way and lets go; a sink written to afterwards opens again. */
  close(): Promise<void>;
}
