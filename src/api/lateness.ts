/**
 * Which requests reached the server later than others. A request is counted when it is granted, and the server counts it when it arrives:
 * after a new connection, a stalled process or a lost packet that is later than usual, and the window must count it later too. All that is
 * known is how long the answer took. Answers that took longer than the median count as late by the difference; slow answers of a busy server
 * are among them, which costs a little of the budget, and a late request that is not noticed costs a 429. Pure.
 */
import type { LateRequest } from './budget.js';

interface Sent {
  id: string;
  atMs: number;
  /** How long the answer took; null while it is awaited. */
  tookMs: number | null;
}

export interface Lateness {
  /** A request was granted. */
  sent(id: string, nowMs: number): Sent;
  answered(sent: Sent, nowMs: number): void;
  /**
   * Answered requests that were late, half a window after they were sent: by then it is known how long answers usually take. Each is
   * returned once.
   */
  late(nowMs: number): LateRequest[];
}

/** Answers of which the median is taken. */
const KNOWN_ANSWERS = 99;

/** @param toleranceMs requests that are less late are covered by the margin of the window */
export function createLateness({ windowMs, toleranceMs }: { windowMs: number; toleranceMs: number }): Lateness {
  const answers: number[] = [];
  let open: Sent[] = [];
  return {
    sent(id, nowMs) {
      const sent = { id, atMs: nowMs, tookMs: null };
      open.push(sent);
      return sent;
    },
    answered(sent, nowMs) {
      sent.tookMs = nowMs - sent.atMs;
      answers.push(sent.tookMs);
      if (answers.length > KNOWN_ANSWERS) answers.shift();
    },
    late(nowMs) {
      const isDue = ({ atMs, tookMs }: Sent): boolean => tookMs !== null && nowMs - atMs >= windowMs / 2;
      const due = open.filter(isDue);
      open = open.filter((sent) => !isDue(sent) && nowMs - sent.atMs < windowMs);
      const usualMs = median(answers);
      return due
        .map(({ id, tookMs }) => ({ id, byMs: Math.floor((tookMs ?? 0) - usualMs) }))
        .filter(({ byMs }) => byMs > toleranceMs);
    },
  };
}

function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
