/**
 * Whether a failed attempt is retried, and what is recorded of it in BullMQ's text for stack traces (JSON): name, code,
 * shortened message and stack frames, nothing else, because the rest may contain records or tokens. Pure.
 */
import { UnrecoverableError } from 'bullmq';
import { z } from 'zod';
import { ChangefeedError } from '../kit/errors.js';
import { classOf, isPermanent, partsOf, retryAfterMsOf, statusOf } from './handlers/errors.js';
import type { RetryPolicy } from './handlers/handler.js';
import { backoffMs } from '../kit/backoff.js';
import { isoTime } from '../kit/clock.js';
import { isInFuture } from '../kit/stored-time.js';
import { jsonOrNull } from '../redis/stored.js';

export type RetryDecision =
  { outcome: 'retry'; waitMs: number } | { outcome: 'dead'; because: 'permanent' | 'exhausted' };

/** @param options `attempt`: 1 for the first; `random` in [0, 1) */
export function decideRetry(
  thrown: unknown,
  { attempt, retry, random }: { attempt: number; retry: RetryPolicy; random: number },
): RetryDecision {
  if (isPermanent(thrown)) return { outcome: 'dead', because: 'permanent' };
  if (attempt >= retry.attempts) return { outcome: 'dead', because: 'exhausted' };
  return { outcome: 'retry', waitMs: retryAfterMsOf(thrown) ?? backoffMs(attempt, retry, random) };
}

const failedAttempt = z.object({
  attempt: z.number(),
  /** ISO 8601: when it failed. */
  at: z.string(),
  error: z.string(),
  code: z.string().optional(),
  message: z.string(),
  /** The HTTP status, if the receiver answered with one. */
  status: z.number().optional(),
  /** How long it took. */
  ms: z.number().optional(),
  /** Where it was thrown, innermost first. */
  frames: z.array(z.string()).readonly(),
});

export type FailedAttempt = z.infer<typeof failedAttempt>;

const LONGEST_MESSAGE = 500;
const KEPT_FRAMES = 5;

export function recordFailure(
  thrown: unknown,
  { attempt, nowMs, ms }: { attempt: number; nowMs: number; ms?: number | undefined },
): FailedAttempt {
  const status = statusOf(thrown);
  const code = thrown instanceof ChangefeedError ? thrown.code : undefined;
  return {
    attempt,
    at: isoTime(nowMs),
    error: classOf(thrown),
    ...(code === undefined ? {} : { code }),
    message: shorten(partsOf(thrown).whole),
    ...(status !== undefined && { status }),
    ...(ms !== undefined && { ms: Math.round(ms) }),
    frames: framesOf(thrown),
  };
}

/** Reads a text written by `recordFailure`; undefined for any other text. */
export function parseFailedAttempt(text: string): FailedAttempt | undefined {
  return failedAttempt.safeParse(jsonOrNull(text)).data;
}

const wait = z.object({
  waitMs: z.number(),
  /** When it ends, by the clock of Redis, which is the same for all processes. */
  untilMs: z.number(),
});

/** How long the next attempt waits. */
export type Wait = z.infer<typeof wait>;

/** For an attempt that is retried. BullMQ delays the job by the wait, and keeps it with the attempt, in one step. */
export class AttemptFailedError extends Error {
  override readonly name = 'FailedTry';
  readonly waitMs: number;

  constructor(failure: FailedAttempt, { waitMs, untilMs }: Wait) {
    super(failure.code ?? failure.error);
    this.waitMs = waitMs;
    this.stack = JSON.stringify({ ...failure, waitMs, untilMs });
  }
}

/**
 * How long the attempt after this one, whose text BullMQ has kept, still waits. A wait that is longer now than it was meant to be is of another
 * clock, as after a failover: the attempt follows at once.
 */
export function waitLeftMs(text: string | undefined, nowMs: number): number {
  const { waitMs, untilMs } = wait.safeParse(jsonOrNull(text)).data ?? { waitMs: 0, untilMs: nowMs };
  return isInFuture(untilMs, nowMs + waitMs) ? 0 : Math.max(0, untilMs - nowMs);
}

/** Names the error only: BullMQ repeats the message in its stream of notices, which outlives the job. */
export function deadLetterError(failure: FailedAttempt): Error {
  const error = new UnrecoverableError(failure.code ?? failure.error);
  error.stack = JSON.stringify(failure);
  return error;
}

/** Accepts errors of another realm too, which are not instances of our `Error`. */
export function isErrorLike(thrown: unknown): thrown is { name: unknown; message: unknown } {
  return typeof thrown === 'object' && thrown !== null && 'name' in thrown && 'message' in thrown;
}

function shorten(text: string): string {
  return text.length <= LONGEST_MESSAGE ? text : `${text.slice(0, LONGEST_MESSAGE)}… (${text.length} characters)`;
}

function framesOf(thrown: unknown): string[] {
  if (!(thrown instanceof Error) || thrown.stack === undefined) return [];
  // The stack starts with the message, which may contain lines that resemble frames.
  const { message, stack } = thrown;
  const frames = stack
    .slice(Math.max(0, stack.indexOf(message)) + message.length)
    .split('\n')
    .filter((line) => /^\s+at .+:\d+:\d+\)?$/.test(line));
  return frames.slice(0, KEPT_FRAMES).map((line) => shorten(line.trim()));
}
