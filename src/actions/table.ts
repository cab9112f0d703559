/** Every action, by the noun that it is about. */
import type { Action } from './define.js';
import * as consumers from './consumers.js';
import * as deadLetters from './dead-letters.js';
import * as events from './events.js';
import * as feedState from './feed-state.js';
import * as history from './history.js';
import * as invites from './invites.js';
import * as lists from './lists.js';
import * as mutes from './mutes.js';
import * as overview from './overview.js';
import * as related from './related.js';
import * as rules from './rules.js';
import * as subscriptions from './subscriptions.js';
import {
  listWorkspaces,
  pauseWorkspace,
  putWorkspace,
  removeWorkspace,
  resumeWorkspace,
  rotateWorkspace,
} from './workspaces.js';
import * as usage from './usage.js';

/** By their names in code, which the page calls them by. */
export const TABLE = {
  ...feedState,
  ...invites,
  ...events,
  ...subscriptions,
  ...consumers,
  ...mutes,
  ...deadLetters,
  ...rules,
  ...lists,
  ...history,
  ...overview,
  ...usage,
  ...related,
  ...{ listWorkspaces, putWorkspace, rotateWorkspace, pauseWorkspace, resumeWorkspace, removeWorkspace },
};
export type Table = typeof TABLE;

// Each is checked where it is defined; here they are of one type.
export const ACTIONS = Object.values(TABLE) as unknown as readonly Action[];
