/** Every action, by the noun that it is about. */
import type { Action } from './define.js';
import * as deadLetters from './dead-letters.js';
import * as events from './events.js';
import * as feedState from './feed-state.js';
import * as lists from './lists.js';
import * as rules from './rules.js';
import * as subscriptions from './subscriptions.js';

// Each is checked where it is defined; here they are of one type.
export const ACTIONS = [feedState, events, subscriptions, deadLetters, rules, lists].flatMap(
  (noun) => Object.values(noun) as unknown as readonly Action[],
);
