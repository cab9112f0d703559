/** Patterns with `*`, the only wildcard of Changefeed: it matches any number of characters, also none. */

/** Returns a function that tests a text against the pattern. Compile once, test often. */
export function compilePattern(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return (text) => text === pattern;
  // Several * in a row become one: "a**b" must not become a slow expression.
  const source = pattern.split(/\*+/).map(escape).join('.*');
  const expression = new RegExp(`^${source}$`, 's');
  return (text) => expression.test(text);
}

/** The end of types of events about a list and not about a record. Their `before` and `after` are null. */
const OF_A_LIST = '.schema_changed';
/** The beginning of the types of the feed's own events. */
const OF_THE_FEED = 'changefeed.';

/**
 * Returns a function that tests whether a pattern in `on` selects an event type. Only a pattern that ends in `.schema_changed`
 * selects events of a list, and only one that begins with `changefeed.` selects the feed's own: a handler of all events of
 * people (`crm.person.*`) expects a person in each. `EventOf` in `handlers/define.ts` has the same rule in types.
 */
export function compileTypePattern(pattern: string): (type: string) => boolean {
  const matches = compilePattern(pattern);
  const [ofLists, ofFeed] = [pattern.endsWith(OF_A_LIST), pattern.startsWith(OF_THE_FEED)];
  return (type) => matches(type) && (ofLists || !type.endsWith(OF_A_LIST)) && (ofFeed || !type.startsWith(OF_THE_FEED));
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
