/** An answer that is no fault of the server. */
export class RefusedError extends Error {
  constructor(
    readonly statusCode: 400 | 404 | 409 | 429,
    message: string,
  ) {
    super(message);
  }
}
