/** For a server whose decisions are not looked at. */
import type { Audit } from '../../src/ops/audit.js';

export const noAudit: Pick<Audit, 'decided' | 'count' | 'flush'> = {
  decided: () => Promise.resolve(),
  count: () => undefined,
  flush: () => Promise.resolve(),
};
