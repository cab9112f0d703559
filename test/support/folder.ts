import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder of a test, removed after it. Call it inside a test or a `beforeEach`. */
export function testFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'changefeed-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
