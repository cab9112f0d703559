/** Fields that several actions take, and what they are called. */
import { z } from 'zod';

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
