/** Patterns with `*`, the only wildcard of Changefeed: it matches any number of characters, also none. */

/**
 * Returns a function that tests a text against the pattern. Compile once, test often. Texts come from records and have any length, so
 * this is no regular expression: with two `*` one would take quadratic time, in which the whole process stands still.
 */
export function compilePattern(pattern: string): (text: string) => boolean {
  const [prefix = '', ...rest] = pattern.split('*');
  const suffix = rest.pop();
  if (suffix === undefined) return (text) => text === pattern;
  const between = rest.filter((part) => part !== '');
  return (text) => {
    const end = text.length - suffix.length;
    if (end < prefix.length || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
    // The first place of each part leaves the most room for the parts behind it, so no other place has to be tried.
    let from = prefix.length;
    for (const part of between) {
      const at = text.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return from <= end;
  };
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
