/**
 * Sets the timers of all todos anew, when todos are watched for the first time or in another way (another time zone, another
 * lead). As at first contact, what is over by then is no news; what was missed and is still to be told stays.
 */
import type { TodoWatch } from '../detect/rules.js';
import { NO_TIMERS, timersOf } from '../detect/watch.js';
import type { Clock } from '../runtime/clock.js';
import type { TodoStore } from './store.js';

export async function rebuildTimers(store: TodoStore, watch: TodoWatch | null, clock: Clock): Promise<void> {
  const before = await store.watchedAs();
  if (watch === null) {
    if (before !== null) await store.watchAs(null);
    return;
  }
  if (before?.timeZone === watch.timeZone && before.dueSoonMs === watch.dueSoonMs) return;
  for await (const todos of store.everyTodo()) {
    for (const [key, todo] of todos) {
      const { record } = todo.known;
      if (record === null) continue;
      const timers = timersOf(record, watch, { nowMs: clock.now(), quiet: true });
      await store.set(key, todo, timers === NO_TIMERS ? timers : timers.filter(({ atMs }) => atMs !== null));
    }
  }
  await store.watchAs(watch);
}
