import { describe } from 'vitest';
import { describeModel } from './model-suite.js';

// A crash between two parts of a page must lose and invent no event either.
describe('model: pages committed in parts of two records', () => {
  describeModel(['people', 'todo', 'activity'], {
    sabotage: { options: (options) => ({ ...options, recordsPerPart: 2 }) },
  });
});
