export interface EventuallyOptions {
  /** @defaultValue 80000: far more than any test waits on an idle machine. Shorter only where a promise is */
  timeoutMs?: number;
  intervalMs?: number;
}

export async function eventually<T>(
  assertion: () => T | Promise<T>,
  { timeoutMs = 80_000, intervalMs = 20 }: EventuallyOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await assertion();
    } catch (error) {
      if (performance.now() >= deadline) {
        if (error instanceof Error) error.message = `After waiting ${timeoutMs} ms: ${error.message}`;
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, intervalMs));
    }
  }
}
