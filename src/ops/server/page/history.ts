/** The page's plots over time: the status, read every few seconds and kept in memory for an hour. */
import type { z } from 'zod';
import { isoTime, type Clock } from '../../../kit/clock.js';
import type { Status } from '../../watch/status.js';
import type { history, Plain } from './answers.js';

type Sample = Plain<z.output<typeof history>>['samples'][number];

export type History = ReturnType<typeof createHistory>;

export const SAMPLE_MS = 5_000;
const KEPT_MS = 3_600_000;

export function createHistory(clock: Clock) {
  const samples: { ms: number; sample: Sample }[] = [];
  return {
    add(status: Status): void {
      const ms = clock.now();
      samples.push({ ms, sample: sampleOf(status, isoTime(ms)) });
      while ((samples[0]?.ms ?? ms) < ms - KEPT_MS) samples.shift();
    },
    since: (fromMs: number): Sample[] => samples.filter(({ ms }) => ms >= fromMs).map(({ sample }) => sample),
  };
}

function sampleOf({ workspaces, subscriptions }: Status, at: string): Sample {
  return {
    at,
    workspaces: workspaces.map(({ name, budget: { allowed, pausedMs, used } }) => ({
      name,
      used,
      allowed,
      pausedMs,
    })),
    subscriptions: subscriptions.map(({ name, lagEvents, lagSeconds, dead }) => ({
      name,
      lagEvents,
      lagSeconds,
      dead,
    })),
  };
}
