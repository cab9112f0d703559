/** The live end of the logs, watched once per process. It only wakes the readers: each reads the logs itself. */
import { EventEmitter, once } from 'node:events';
import { storedEvents, type TailedEvent } from '../../../delivery/ask/tail.js';
import type { Position } from '../../../events/position.js';
import { sleepUntilAborted, systemClock } from '../../../kit/clock.js';
import { messageOf } from '../../../kit/errors.js';
import type { Log } from '../../../kit/log.js';
import { endsOf } from './events-before.js';
import type { PageSource } from './source.js';

const LONGEST_WAIT_MS = 5_000;
const NAMES_MS = 1_000;

export type LiveEvents = ReturnType<typeof createLiveEvents>;

interface Watch {
  /** From now on, growth of the logs is noticed. */
  begun: Promise<unknown>;
  ended: Promise<void>;
  broken: AbortSignal;
}

export function createLiveEvents(source: PageSource, log: Log) {
  const stopping = new AbortController();
  const logs = new EventEmitter().setMaxListeners(0);
  let watch: Watch | undefined;

  const begin = (): Watch => {
    const broken = new AbortController();
    const signal = AbortSignal.any([stopping.signal, broken.signal]);
    const names = source.workspaces().map(({ name }) => name);
    const begun = endsOf(source.log, names);
    const watchOne = async ([workspace, from]: [string, string]): Promise<void> => {
      for (let at = from; !signal.aborted;) {
        await source.log.waitForMore(workspace, at, LONGEST_WAIT_MS, signal);
        // Before its readers are woken: what is logged from then on wakes them again.
        const end = await source.log.tail(workspace);
        if (end !== at) logs.emit('grown');
        at = end;
      }
    };
    /** A stream does not watch what has come since it began: it ends, and its reader begins another one where it was. */
    const untilOthers = async (before: readonly string[], until: AbortSignal): Promise<void> => {
      const areSame = (): boolean => source.workspaces().every(({ name }) => before.includes(name));
      while (areSame() && !until.aborted) await sleepUntilAborted(systemClock, NAMES_MS, until);
      broken.abort();
    };
    const watchAll = async (): Promise<void> => {
      try {
        await Promise.all([...[...(await begun)].map(watchOne), untilOthers(names, signal)]);
      } catch (error) {
        log.warn({ error: messageOf(error) }, 'the live events of the status page were interrupted');
      } finally {
        watch = undefined;
        broken.abort();
      }
    };
    return { begun, ended: watchAll(), broken: broken.signal };
  };
  return {
    async *follow(from: Position, signal: AbortSignal): AsyncGenerator<TailedEvent, void, undefined> {
      watch ??= begin();
      const ended = AbortSignal.any([signal, stopping.signal, watch.broken]);
      const offsets = new Map(from);
      await watch.begun;
      while (!ended.aborted) {
        // Before the logs are read, so that no event falls between the two.
        const grown = once(logs, 'grown', { signal: ended }).catch(() => undefined);
        yield* storedEvents(source.log, offsets, { signal: ended });
        await grown;
      }
    },
    async close(): Promise<void> {
      stopping.abort();
      await watch?.ended;
    },
  };
}
