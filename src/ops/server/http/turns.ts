/** Requests that read the log or stored records take turns: few run at a time, and few of one caller wait. */
import { giveWay } from '../../../kit/give-way.js';

export interface TurnLimits {
  atOnce: number;
  /** Besides those that run: of all callers, and of one. */
  waiting: number;
  waitingOfOne: number;
}

interface Waiting {
  caller: string;
  begin(): void;
}

export function createTurns({ atOnce, waiting: most, waitingOfOne }: TurnLimits) {
  const waiting: Waiting[] = [];
  let running = 0;
  /** False: the caller has left. */
  const turn = (caller: string, signal: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const one: Waiting = { caller, begin: () => resolve(true) };
      waiting.push(one);
      const leave = (): void => {
        const at = waiting.indexOf(one);
        if (at >= 0) waiting.splice(at, 1);
        resolve(false);
      };
      signal.addEventListener('abort', leave, { once: true });
    });
  return {
    /**
     * @param signal aborts when the caller no longer waits for the answer
     * @returns 'no turn' where too many wait already, or the caller has left
     */
    async take<T>(caller: string, signal: AbortSignal, work: () => Promise<T>): Promise<T | 'no turn'> {
      if (running >= atOnce) {
        const own = waiting.filter((one) => one.caller === caller).length;
        if (waiting.length >= most || own >= waitingOfOne) return 'no turn';
        // Who ends hands the turn on: the number of those that run stays.
        if (!(await turn(caller, signal))) return 'no turn';
      } else running += 1;
      try {
        await giveWay();
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next.begin();
      }
    },
  };
}
