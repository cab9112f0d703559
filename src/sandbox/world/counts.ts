/** The counters, latest note and next todo of a person or organization, computed from their children. */
import type { DealFacts, MemoFacts, TodoFacts } from './facts.js';

export interface Hanging {
  readonly deals: readonly DealFacts[];
  readonly memos: readonly MemoFacts[];
  readonly todos: readonly TodoFacts[];
}

export interface Counts {
  readonly leads: number;
  readonly running: number;
  readonly won: number;
  readonly lost: number;
  readonly todos: number;
  readonly done: number;
  readonly latestMemo: MemoFacts | null;
  /** The open todo with the earliest end. */
  readonly nextTodo: TodoFacts | null;
}

export function countsOf({ deals, memos, todos }: Hanging): Counts {
  const withStatus = (status: DealFacts['status']): number => deals.filter((deal) => deal.status === status).length;
  const open = todos.filter((todo) => todo.doneAt === null);
  return {
    leads: withStatus('lead'),
    running: withStatus('running'),
    won: withStatus('won'),
    lost: withStatus('lost'),
    todos: todos.length,
    done: todos.length - open.length,
    latestMemo: best(memos, (memo, than) => memo.createdAt > than.createdAt),
    nextTodo: best(open, (todo, than) => todo.endAt < than.endAt),
  };
}

/** The first one if several are equally good. */
function best<T>(values: readonly T[], isBetter: (value: T, than: T) => boolean): T | null {
  return values.reduce<T | null>((so, value) => (so === null || isBetter(value, so) ? value : so), null);
}
