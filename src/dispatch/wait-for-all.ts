/** Waits until all that is in the logs now is handled, and what is derived of it. */
import type { Dispatcher, WaitOptions, WaitResult } from './dispatcher.js';
import type { LogReader } from './ports.js';

export interface WaitForAllDeps {
  dispatcher: Dispatcher;
  log: Pick<LogReader, 'tail'>;
  workspaces: readonly string[];
  /** Handling events may append others. */
  derives: boolean;
}

export async function waitForAll(
  wait: WaitOptions,
  { dispatcher, log, workspaces, derives }: WaitForAllDeps,
): Promise<WaitResult> {
  const once = async (): Promise<WaitResult> => {
    const tails = workspaces.map(async (name) => [name, await log.tail(name)] as const);
    return await dispatcher.waitUntilHandled({ ...wait, upTo: Object.fromEntries(await Promise.all(tails)) });
  };
  const first = await once();
  // What was derived meanwhile stands behind it in the log; of that, nothing more is derived.
  return derives && first.outcome === 'handled' ? await once() : first;
}
