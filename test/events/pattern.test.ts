import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePattern, compileTypePattern } from '../../src/events/pattern.js';

describe('pattern', () => {
  it.each([
    ['crm.*', 'crm.person.created', true],
    ['*', '', true],
    ['crm.*.created', 'crm.deal_history.created', true],
    ['crm.*.created', 'crm.person.updated', false],
    ['crm.person.created', 'crm.person.created', true],
    ['crm.person.created', 'crmxperson.created', false],
    ['crm.p*', 'xcrm.person', false],
    ['딜 (*) [원]', '딜 (a+b) [원]', true],
    ['a**b', 'a\nb', true],
  ])('pattern: %s matches %j: %s', (pattern, text, expected) => {
    expect(compilePattern(pattern)(text)).toBe(expected);
  });

  it('pattern: agrees with a definition that tries every place', () => {
    const text = (characters: string): fc.Arbitrary<string> =>
      fc.string({ unit: fc.constantFrom(...characters.split('')), maxLength: 8 });
    fc.assert(
      fc.property(text('ab*'), text('ab'), (pattern, given) => {
        expect(compilePattern(pattern)(given)).toBe(isMatch(pattern, given));
      }),
      { numRuns: 5_000 },
    );
  });

  // A regular expression takes minutes for the first of these and years for the others.
  it.each([
    ['*@*.example.com', '@'.repeat(1_000_000)],
    ['*a*a*a*a*b', 'a'.repeat(1_000_000)],
    ['*ab*ab*ab*ab*ac', 'ab'.repeat(500_000)],
  ])('pattern: %s takes time in proportion to a text of 1 MB', (pattern, text) => {
    const startedAt = performance.now();
    expect(compilePattern(pattern)(text)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

/** The definition: `*` stands for nothing, or for one more character. */
function isMatch(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] === '*') return isMatch(pattern.slice(1), text) || (text !== '' && isMatch(pattern, text.slice(1)));
  return text[0] === pattern[0] && isMatch(pattern.slice(1), text.slice(1));
}

describe('event type pattern', () => {
  it.each([
    ['crm.*', 'crm.person.created', true],
    ['crm.**', 'crm.person.created', true],
    ['*', 'crm.person.created', true],
    // Events of a list are not events of a record: they have no `after`.
    ['*', 'crm.person.schema_changed', false],
    ['crm.*', 'crm.person.schema_changed', false],
    ['crm.person.*', 'crm.person.schema_changed', false],
    ['crm.person.schema_*', 'crm.person.schema_changed', false],
    ['*schema_changed', 'crm.person.schema_changed', false],
    ['crm.person.schema_changed', 'crm.person.schema_changed', true],
    ['crm.*.schema_changed', 'crm.person.schema_changed', true],
    ['*.schema_changed', 'crm.person.schema_changed', true],
    ['crm.todo.schema_changed', 'crm.person.schema_changed', false],
    // The feed's own events are not events of the CRM.
    ['*', 'changefeed.state.lost', false],
    ['*.lost', 'changefeed.state.lost', false],
    ['change*', 'changefeed.state.lost', false],
    ['changefeed.*', 'changefeed.state.lost', true],
    ['changefeed.*.lost', 'changefeed.state.lost', true],
    ['changefeed.state.lost', 'changefeed.state.lost', true],
    ['changefeed.sweep.*', 'changefeed.state.lost', false],
    ['changefeed.*', 'crm.person.created', false],
  ])('event type pattern: %s selects %s: %s', (pattern, type, expected) => {
    expect(compileTypePattern(pattern)(type)).toBe(expected);
  });
});
