/** Fields that several actions take, and what they are called. */
import { z } from 'zod';
import { systemClock } from '../kit/clock.js';
import { parseDuration } from '../kit/duration.js';
import { usage } from '../kit/errors.js';

export const subscription = z.string().describe('the name of a subscription');
export const workspace = z.string().optional().describe('only this workspace (default: all)');
export const workspaceOf = z.string().describe('its workspace');
export const list = z.string().describe('the name of a list');
export const eventTypes = z
  .array(z.string().max(200))
  .min(1)
  .max(20)
  .optional()
  .describe('only these event types, separated by commas (* allowed)');
export const dryRun = z.boolean().optional().describe('only say what would be done');
export const short = z.string().min(1).max(2_000).optional();

/** The fields that name one list. */
export const ofList = { workspace: workspaceOf, list };

/** A duration is a time so long ago; ms. @throws ChangefeedError CF_USAGE */
export function momentOf(text: string, name: string): number {
  const ms = parseDuration(text);
  const at = ms === undefined ? Date.parse(text) : systemClock.now() - ms;
  if (Number.isNaN(at)) throw usage(`${name}: found "${text}"; allowed: a duration such as 7d, or a time.`);
  return at;
}
