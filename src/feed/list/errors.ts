/** The errors of a commit that wrote nothing. */
import type { ListName } from '../../crm/lists/lists.js';
import { ChangefeedError } from '../../kit/errors.js';

export function leaseLost(list: ListName): ChangefeedError {
  return new ChangefeedError('CF_LEASE_LOST', {
    list,
    message:
      `List "${list}": this process lost the list's lease, because it or Redis did not answer for longer than the lease lasts. ` +
      `The process that gets the next lease continues the sweep. Nothing was written twice.`,
  });
}

export function stateLost(list: ListName): ChangefeedError {
  return new ChangefeedError('CF_STATE_LOST', {
    list,
    message: `List "${list}": its records are gone from Redis (evicted or deleted). Nothing was reported as new: the next sweep takes a new baseline without events. Changes since the last complete sweep yield no events.`,
  });
}
