/** Does a subscription want an event? Pure; patterns are compiled once, asked often. */
import { listOf, workspaceOf } from '../events/envelope.js';
import type { ChangeEvent } from '../events/types.js';
import { compilePattern } from '../events/pattern.js';
import type { Selection } from '../handlers/handler.js';

type Test = (event: ChangeEvent) => boolean;

/**
 * Field patterns speak of updated events: what was created or deleted has changed as a whole, and passes. A `where` that
 * throws selects: the event must not be lost; it is asked again before handling, where a failure is retried.
 */
export function compileSelection({ on, workspaces, lists, class: wanted, fields, where }: Selection): Test {
  const tests: Test[] = [anyPattern(on, (event) => [event.type])];
  if (workspaces !== undefined) tests.push((event) => workspaces.includes(workspaceOf(event)));
  if (lists !== undefined) tests.push((event) => lists.some((list) => list === listOf(event)));
  if (wanted !== undefined) tests.push((event) => event.data.class === wanted);
  if (fields !== undefined) {
    const changedOne = anyPattern(fields, (event) => event.data.changes.map(({ field }) => field));
    tests.push((event) => !event.type.endsWith('.updated') || changedOne(event));
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

function anyPattern(patterns: readonly string[], textsOf: (event: ChangeEvent) => readonly string[]): Test {
  const compiled = patterns.map((pattern) => compilePattern(normal(pattern)));
  return (event) => textsOf(event).some((text) => compiled.some((matches) => matches(normal(text))));
}

/** A Korean field name typed on one system may be composed otherwise than the one sent by the API: the same to the eye. */
function normal(text: string): string {
  return text.normalize('NFC');
}
