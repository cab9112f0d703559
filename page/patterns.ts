/** Patterns of event types, with `*` for any characters, as subscriptions have them. Pure. */
export function patternOf(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
}
