/** Patterns with `*`, the one wildcard of Changefeed: it stands for any run of characters, the empty one included. */

/** Makes a test of a pattern; compile once, ask often. */
export function compilePattern(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return (text) => text === pattern;
  // Runs of * are one: "a**b" must not become a slow expression.
  const source = pattern.split(/\*+/).map(escape).join('.*');
  const expression = new RegExp(`^${source}$`, 's');
  return (text) => expression.test(text);
}

/** An event of a list rather than of a record ends so; its `before` and `after` are null. */
const OF_A_LIST = '.schema_changed';
/** The feed's own events begin so. */
const OF_THE_FEED = 'changefeed.';

/**
 * Makes a test of a pattern of event types, as it stands in `on`: which types it selects. Events of a list are selected only by a
 * pattern that ends in `.schema_changed`, the feed's own only by one that begins with `changefeed.`: a handler of
 * all events of people (`crm.person.*`) expects a person in each. `EventOf` in `handlers/define.ts` says the same in types.
 */
export function compileTypePattern(pattern: string): (type: string) => boolean {
  const matches = compilePattern(pattern);
  const [ofLists, ofFeed] = [pattern.endsWith(OF_A_LIST), pattern.startsWith(OF_THE_FEED)];
  return (type) => matches(type) && (ofLists || !type.endsWith(OF_A_LIST)) && (ofFeed || !type.startsWith(OF_THE_FEED));
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
