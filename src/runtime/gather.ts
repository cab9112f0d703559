/** Calls made in the same turn of the event loop, carried out as one: fewer round trips where many are in flight. */

/** In larger groups all callers would wait together, and then all work together: neither side would be kept busy. */
const MOST = 8;

/** @param carryOut gets the gathered inputs, answers each at its index */
export function gather<Input, Output>(
  carryOut: (inputs: readonly Input[]) => Promise<readonly Output[]>,
): (input: Input) => Promise<Output> {
  interface Call {
    input: Input;
    resolve: (output: Output) => void;
    reject: (error: unknown) => void;
  }
  let waiting: Call[] = [];
  let flushing: NodeJS.Immediate | undefined;

  const flush = async (): Promise<void> => {
    const calls = waiting;
    waiting = [];
    clearImmediate(flushing);
    try {
      const outputs = await carryOut(calls.map(({ input }) => input));
      calls.forEach(({ resolve }, index) => resolve(outputs[index] as Output));
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  };
  return (input) =>
    new Promise((resolve, reject) => {
      // After the replies that arrived together have been dealt with: what they lead to goes out together as well.
      if (waiting.length === 0) flushing = setImmediate(() => void flush());
      waiting.push({ input, resolve, reject });
      if (waiting.length === MOST) void flush();
    });
}
