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
});

describe('event type pattern', () => {
  it.each([
    ['crm.*', 'crm.person.created', true],
    ['crm.**', 'crm.person.created', true],
    ['*', 'acme.person.promoted', true],
    ['acme.*', 'acme.person.promoted', true],
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
