/** Groups calls made in the same turn of the event loop, to save round trips when many calls are in flight. */
import type { Clock } from './clock.js';

/** In larger groups, all callers would wait and then run at the same time: each side would idle in turn. */
const LARGEST_GROUP = 8;

/** @param carryOut takes the inputs of a group and returns the output of each at the same index */
export function gather<Input, Output>(
  carryOut: (inputs: readonly Input[]) => Promise<readonly Output[]>,
  largest = LARGEST_GROUP,
): (input: Input) => Promise<Output> {
  interface WaitingCall {
    input: Input;
    resolve: (output: Output) => void;
    reject: (error: unknown) => void;
  }
  let waiting: WaitingCall[] = [];
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
      // An immediate runs after all replies that arrived together; the calls that follow from them form one group.
      if (waiting.length === 0) flushing = setImmediate(() => void flush());
      waiting.push({ input, resolve, reject });
      if (waiting.length === largest) void flush();
    });
}

export function gatherEach<Input, Output>(
  carryOut: (key: string, inputs: readonly Input[]) => Promise<readonly Output[]>,
  largest?: number,
): (key: string, input: Input) => Promise<Output> {
  const groups = new Map<string, (input: Input) => Promise<Output>>();
  return (key, input) => {
    let add = groups.get(key);
    if (add === undefined) {
      add = gather((inputs) => carryOut(key, inputs), largest);
      groups.set(key, add);
    }
    return add(input);
  };
}

/** Calls within `ms`, and all while one is under way, share one result; a failure is not kept. */
export function keptFor<Value>(ms: number, read: () => Promise<Value>, clock: Clock): () => Promise<Value> {
  let kept: { value: Promise<Value>; untilMs: number } | undefined;
  return () => {
    if (kept !== undefined && clock.monotonic() < kept.untilMs) return kept.value;
    const untilMs = clock.monotonic() + ms;
    const one = { value: read(), untilMs: Infinity };
    kept = one;
    one.value.then(
      () => (one.untilMs = untilMs),
      () => (kept = undefined),
    );
    return one.value;
  };
}
