import { describe } from 'vitest';
import { modelOf } from './model-suite.js';

describe('whatever happens to people and organizations, and to those who sweep them, detection', () =>
  modelOf(['people', 'organization']));
