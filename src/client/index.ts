/** For programs that ask a Changefeed for events over HTTP. */
export { pull, type Batch, type PullCall } from './pull.js';
export type { ChangeEvent } from '../events/types.js';
export { ChangefeedError } from '../kit/errors.js';
