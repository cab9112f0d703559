import { describeCopies } from './suite.js';

describeCopies([], [1, 2]);
