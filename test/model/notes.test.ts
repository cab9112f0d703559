import { describe } from 'vitest';
import { describeModel } from './model-suite.js';

describe('model: memos and todos', () => describeModel(['memo', 'todo']));
