/** The outermost layer: no error leaves the client with the token in it. */
import type { Layer } from './layers.js';
import { redactError, type Redact } from './redact.js';

export function withRedaction(redact: Redact): Layer {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      // After an abort, the caller gets its own reason back unchanged.
      request.signal?.throwIfAborted();
      throw redactError(error, redact);
    }
  };
}
