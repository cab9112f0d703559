/** Decisions for those who do not want to make them. */
import type { ListName } from '../events/lists.js';

/** Of the 100 requests per 10 s that the API is known to allow; the rest is left to the customer's other integrations. */
export const DEFAULT_BUDGET = { requests: 80, perSeconds: 10 };

export const DEFAULT_TIME_ZONE = 'Asia/Seoul';

/** A day ahead: whoever works through a list in the morning has it on the list of that day. */
export const DEFAULT_DUE_SOON_MS = 86_400_000;

/**
 * Time between two sweeps of a list. The pages of all lists together, each divided by its interval, must stay below
 * the budget of 8 requests a second, or sweeps would queue up behind each other for ever. Reckoned for a large
 * workspace, in pages of 50:
 *
 *   list           records  pages  interval  requests/s
 *   todo            10,000    200     2 min       1.67    what people wait for most
 *   people          10,000    200     5 min       0.67
 *   organization     3,000     60     5 min       0.20
 *   memo            10,000    200     5 min       0.67
 *   history         50,000  1,000    10 min       1.67    only grows; long before it is big
 *   activity        50,000  1,000    10 min       1.67
 *   together                                      6.53    of 8
 *
 * Too slow is the lesser harm: a smaller workspace shortens them in its configuration.
 */
export const DEFAULT_INTERVAL_MS: Readonly<Record<ListName, number>> = {
  todo: 2 * 60_000,
  people: 5 * 60_000,
  organization: 5 * 60_000,
  memo: 5 * 60_000,
  history: 10 * 60_000,
  activity: 10 * 60_000,
};

/** A week is long enough to notice a broken consumer on Monday and replay; 100,000 events of 4 kB are 400 MB at worst. */
export const DEFAULT_LOG_RETENTION = { ageMs: 7 * 86_400_000, events: 100_000 };

/** A dead letter is a promise not yet kept: it waits for a person, and by default its number is not limited. */
export const DEFAULT_DEAD_LETTER_RETENTION = { ageMs: 30 * 86_400_000, count: null };

/** Loopback: what is served is people's data, and whoever wants it on a network says so. */
export const DEFAULT_SERVE = { host: '127.0.0.1', port: 4020 };

/** Two looks, because a lagging replica can hide a record for a whole sweep; more than a fifth at once is rather a fault. */
export const DEFAULT_REMOVALS = { confirm: 2, maxShare: 0.2, maxCount: 10 };

/** An import of a few thousand into a list of as many passes, and any of up to 100; a list that was replaced does not. */
export const DEFAULT_CREATIONS = { maxShare: 0.5, maxCount: 100 };
