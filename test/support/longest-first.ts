/**
 * Starts the files that take longest first. A clean checkout knows no durations, and by default vitest then starts the largest
 * files first: the model, four lines per file and minutes of computing, would run alone at the end.
 */
import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Beginnings of paths. Files that compute and files that wait for processes take turns, so that the machine is never idle. */
const LONG = [
  'test/cli/stop',
  'test/docs/code-blocks',
  'test/guarantees/8-never-silent',
  'test/delivery/crash',
  'test/redis/trouble',
  'test/cli/restart',
  'test/model/contacts',
  'test/storm/storm',
  'test/delivery/debounce-failures',
  'test/cli/failures',
  'test/ops/server/page/',
  'test/model/',
  'test/guarantees/',
  'test/delivery/snapshot',
  'test/verification/',
  'test/delivery/forget',
  'test/feed/todos/',
  'test/cli/',
];

export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const path = relative(this.ctx.config.root, moduleId);
      const at = LONG.findIndex((beginning) => path.startsWith(beginning));
      return at === -1 ? LONG.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}
