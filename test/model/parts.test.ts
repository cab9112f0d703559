import { describe } from 'vitest';
import { modelOf } from './model-suite.js';

// A crash between two parts of a page must lose and invent as little as one between two pages.
describe('the model: pages committed in parts of two records', () => {
  modelOf(['people', 'todo', 'activity'], { sabotage: { options: (options) => ({ ...options, recordsPerPart: 2 }) } });
});
