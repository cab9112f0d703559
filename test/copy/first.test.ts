import { REGRESSIONS } from './regressions.js';
import { describeCopies } from './suite.js';

describeCopies(REGRESSIONS, [0, 2]);
