import { describe } from 'vitest';
import { describeModel } from './model-suite.js';

describe('model: people and organizations', () => describeModel(['people', 'organization']));
