/**
 * The public object after its stop: its connections are closed, and a call would fail in the way of whatever it uses, or wait for ever. Each
 * call says that it was stopped instead. What is under way goes on while the stop does, and ends with it.
 */
import { ChangefeedError } from '../kit/errors.js';

/** They answer at once, without Redis. */
const AT_ONCE: readonly PropertyKey[] = ['handler', 'names'];

/** They answer piece by piece. */
const PIECES: readonly PropertyKey[] = ['tail', 'recordsAsOf', 'restorePlan'];

type Call = (...given: unknown[]) => unknown;

export function stoppable<Feed extends { stop(): Promise<void> }>(feed: Feed): Feed {
  let phase: 'open' | 'stopping' | 'stopped' = 'open';
  const isStopped = (): boolean => phase === 'stopped';
  const underWay = new Set<(reason: ChangefeedError) => void>();
  const stop = (): Promise<void> => {
    if (phase === 'open') phase = 'stopping';
    return feed.stop().finally(() => {
      phase = 'stopped';
      for (const end of underWay) end(stopped());
    });
  };
  const untilStopped = <Answer>(answer: Promise<Answer>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      underWay.add(reject);
      const failed = (error: unknown): void =>
        reject(phase === 'open' || error instanceof ChangefeedError ? (error as Error) : stopped(error));
      void answer.then(resolve, failed).finally(() => underWay.delete(reject));
    });
  async function* each(make: () => AsyncGenerator): AsyncGenerator {
    if (isStopped()) throw stopped();
    const all = make();
    try {
      for (;;) {
        const step = await untilStopped(all.next());
        if (step.done === true) return;
        yield step.value;
      }
    } finally {
      // After a stop, its last step may never end.
      if (!isStopped()) await all.return(undefined);
    }
  }
  const calls = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name, of);
        if (name === 'stop') return stop;
        if (typeof value === 'object' && value !== null) return calls(value);
        if (typeof value !== 'function' || AT_ONCE.includes(name)) return value;
        const run = (given: unknown[]): unknown => Reflect.apply(value as Call, of, given);
        if (PIECES.includes(name)) return (...given: unknown[]) => each(() => run(given) as AsyncGenerator);
        return async (...given: unknown[]) => {
          if (isStopped() || (phase === 'stopping' && name === 'start')) throw stopped();
          return await untilStopped(Promise.resolve(run(given)));
        };
      },
    });
  return calls(feed);
}

function stopped(cause?: unknown): ChangefeedError {
  return new ChangefeedError('CF_STOPPED', { message: 'This Changefeed was stopped: open another one.', cause });
}
