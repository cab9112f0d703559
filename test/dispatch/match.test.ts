import { describe, expect, it } from 'vitest';
import { compileSelection, readsWorkspace } from '../../src/dispatch/match.js';
import type { Selection } from '../../src/handlers/handler.js';
import { changeEvent, type EventSpec } from '../support/fan-out.js';

const selects = (selection: Partial<Selection>, spec: Partial<EventSpec> = {}): boolean =>
  compileSelection({ on: ['crm.*'], ...selection })(changeEvent({ record: 'r1', sequence: 2, ...spec }));

describe('a selection', () => {
  it.each([
    ['crm.*', true],
    ['*', true],
    ['crm.person.updated', true],
    ['crm.person.*', true],
    ['*.updated', true],
    ['crm.todo.*', false],
    ['crm.person.upd', false],
    ['crmxperson.updated', false],
  ])('on %s takes crm.person.updated: %s', (pattern, expected) => {
    expect(selects({ on: [pattern] })).toBe(expected);
  });

  it.each([
    ['crm.*', false],
    ['crm.person.*', false],
    ['*', false],
    ['crm.*.schema_changed', true],
    ['crm.person.schema_changed', true],
  ])('selection: on %s takes crm.person.schema_changed: %s', (pattern, expected) => {
    expect(selects({ on: [pattern] }, { verb: 'schema_changed' })).toBe(expected);
  });

  it('takes what any of its types takes, and nothing without any', () => {
    expect(selects({ on: ['crm.todo.*', 'crm.person.updated'] })).toBe(true);
    expect(selects({ on: [] })).toBe(false);
  });

  it('keeps to its workspaces, lists and class', () => {
    expect(selects({ workspaces: ['acme'] })).toBe(true);
    expect(selects({ workspaces: ['other'] })).toBe(false);
    expect(selects({ lists: ['people', 'memo'] })).toBe(true);
    expect(selects({ lists: ['memo'] })).toBe(false);
    expect(selects({ class: 'edited' })).toBe(true);
    expect(selects({ class: 'edited' }, { class: 'refreshed' })).toBe(false);
  });

  it('asks an updated event for one of its fields', () => {
    expect(selects({ fields: ['담당자'] })).toBe(true);
    expect(selects({ fields: ['담*'] })).toBe(true);
    expect(selects({ fields: ['이메일', '담당자'] })).toBe(true);
    expect(selects({ fields: ['이메일'] })).toBe(false);
  });

  it('knows a Korean field name however it is composed', () => {
    expect(selects({ fields: ['담당자'.normalize('NFD')] })).toBe(true);
  });

  it('lets created and deleted events pass whatever the fields', () => {
    expect(selects({ fields: ['이메일'] }, { verb: 'created' })).toBe(true);
    expect(selects({ fields: ['이메일'] }, { verb: 'deleted' })).toBe(true);
  });

  it('reads only the logs it may select from', () => {
    expect(readsWorkspace({ on: ['*'] }, 'acme')).toBe(true);
    expect(readsWorkspace({ on: ['*'], workspaces: ['other'] }, 'acme')).toBe(false);
  });
});
