/** Waiting for a signal that many wait for, such as the stop of a service: loops, sleeps, requests. */
import { setMaxListeners } from 'node:events';

/** Ends a wait that is over. Made once: an abort without a reason makes an exception with a stack, for each request. */
export const OVER = new Error('The wait is over.');

/** Each caller stops listening when its wait is over: so many listeners are no leak. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
