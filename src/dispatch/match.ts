/** Does a subscription want an event? Pure; patterns are compiled once, asked often. */
import { listOf, workspaceOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import { compilePattern, compileTypePattern } from '../events/pattern.js';
import type { Selection } from '../handlers/handler.js';

type Test = (event: ChangeEvent) => boolean;

/**
 * Field patterns speak of updated events: what was created or deleted has changed as a whole, and passes. A `where` that
 * throws selects: the event must not be lost; it is asked again before handling, where a failure is retried.
 */
export function compileSelection({ on, workspaces, lists, class: wanted, fields, where }: Selection): Test {
  const types = on.map((pattern) => compileTypePattern(normal(pattern)));
  const tests: Test[] = [({ type }) => types.some((selects) => selects(type))];
  if (workspaces !== undefined) tests.push((event) => workspaces.includes(workspaceOf(event)));
  if (lists !== undefined) tests.push((event) => lists.some((list) => list === listOf(event)));
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

/** False when nothing in that workspace can be of interest: its log need not be read. */
export function readsWorkspace({ workspaces }: Selection, workspace: string): boolean {
  return workspaces === undefined || workspaces.includes(workspace);
}

/** A Korean field name typed on one system may be composed otherwise than the one sent by the API: the same to the eye. */
function normal(text: string): string {
  return text.normalize('NFC');
}
