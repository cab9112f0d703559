/** Decides whether a subscription selects an event. Pure. Patterns are compiled once and applied to many events. */
import { listOf, workspaceOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import { compilePattern, compileTypePattern } from '../events/pattern.js';
import type { Selection } from '../handlers/handler.js';

type Test = (event: ChangeEvent) => boolean;

/**
 * Field patterns apply to updated events. Created and deleted events pass, because the whole record has changed. An event
 * for which `where` throws is selected, so that it is not lost: `where` runs again before the handler, where a failure is
 * retried.
 */
export function compileSelection({ on, workspaces, lists, catalogue, class: wanted, fields, where }: Selection): Test {
  const types = on.map((pattern) => compileTypePattern(normal(pattern)));
  const tests: Test[] = [({ type }) => types.some((selects) => selects(type))];
  if (workspaces !== undefined) tests.push((event) => workspaces.includes(workspaceOf(event)));
  if (lists !== undefined) tests.push((event) => lists.some((list) => list === listOf(event, catalogue)));
  if (wanted !== undefined) tests.push((event) => event.data.class === wanted);
  if (fields !== undefined) {
    const wantedFields = fields.map((pattern) => compilePattern(normal(pattern)));
    const isWanted = (field: string): boolean => wantedFields.some((matches) => matches(normal(field)));
    tests.push(({ type, data }) => !type.endsWith('.updated') || data.changes.some(({ field }) => isWanted(field)));
  }
  if (where !== undefined) {
    tests.push((event) => {
      try {
        return where(event);
      } catch {
        return true;
      }
    });
  }
  return (event) => tests.every((test) => test(event));
}

/** False when the subscription selects no event of that workspace, so that its log need not be read. */
export function readsWorkspace({ workspaces }: Selection, workspace: string): boolean {
  return workspaces === undefined || workspaces.includes(workspace);
}

/** A Korean field name can be composed differently on the user's system than in the API's answer, although both appear the same. */
function normal(text: string): string {
  return text.normalize('NFC');
}
