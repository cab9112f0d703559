import { describe } from 'vitest';
import { describeModel } from './model-suite.js';

describe('model: history and activity', () => describeModel(['history', 'activity']));
