import { describe } from 'vitest';
import { modelOf } from './model-suite.js';

describe('whatever happens to the lists that only grow, and to those who sweep them, detection', () =>
  modelOf(['history', 'activity']));
