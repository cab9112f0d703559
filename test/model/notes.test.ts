import { describe } from 'vitest';
import { modelOf } from './model-suite.js';

describe('whatever happens to memos and todos, and to those who sweep them, detection', () =>
  modelOf(['memo', 'todo']));
