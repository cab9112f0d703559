import { describe, expect, it } from 'vitest';
import { compilePattern } from '../../../src/events/pattern.js';

describe('a pattern', () => {
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
  ])('%s on %j: %s', (pattern, text, expected) => {
    expect(compilePattern(pattern)(text)).toBe(expected);
  });
});
