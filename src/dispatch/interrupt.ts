/**
 * Why a handler's signal aborts. One per run; the controller itself is made when somebody asks for the signal, for making
 * one costs more than many a handler takes.
 */

export type Interruption = 'late' | 'stopping' | 'lost';

const REASONS: Readonly<Record<Interruption, string>> = {
  late: 'The handler took longer than its timeout.',
  stopping: 'Changefeed is stopping.',
  lost: 'The event was taken over by another process.',
};

export class Interrupt {
  /** The first reason; null while nothing interrupts. */
  cause: Interruption | null = null;
  #reason: Error | undefined;
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.cause !== null) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(cause: Interruption, reason: Error = new Error(REASONS[cause])): void {
    if (this.cause !== null) return;
    this.cause = cause;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}
