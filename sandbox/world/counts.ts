/** The counters, latest note and next todo of a person or organization, computed from their children. */
import type { DealStatus, FactsOf, MemoFacts, TodoFacts } from './facts.js';

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

/** @param hanging the records of a kind that name the person or organization */
export function countsOf(hanging: <K extends 'unlistedDeal' | 'memo' | 'todo'>(kind: K) => FactsOf[K][]): Counts {
  const [deals, todos] = [hanging('unlistedDeal'), hanging('todo')];
  const withStatus = (status: DealStatus): number => deals.filter((deal) => deal.status === status).length;
  const open = todos.filter((todo) => todo.doneAt === null);
  return {
    leads: withStatus('lead'),
    running: withStatus('running'),
    won: withStatus('won'),
    lost: withStatus('lost'),
    todos: todos.length,
    done: todos.length - open.length,
    latestMemo: best(hanging('memo'), (memo, than) => memo.createdAt > than.createdAt),
    nextTodo: best(open, (todo, than) => todo.endAt < than.endAt),
  };
}

/** The first one if several are equally good. */
function best<T>(values: readonly T[], isBetter: (value: T, than: T) => boolean): T | null {
  return values.reduce<T | null>((so, value) => (so === null || isBetter(value, so) ? value : so), null);
}
