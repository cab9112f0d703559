/** Rows of people activity that name another person: the same one in every answer. */
import type { CrmRecord } from '../../crm/record.js';
import type { SandboxListName } from '../world/lists.js';
import { hash32 } from '../world/random.js';
import type { World } from '../world/world.js';
import type { Behaviour } from './behaviour.js';

export function misnamed(
  list: SandboxListName,
  record: CrmRecord,
  { world, activityNames }: Pick<Behaviour, 'activityNames'> & { world: World },
): CrmRecord {
  if (list !== 'activity' || activityNames === 'right' || world.sizes.people === 0) return record;
  const other = hash32(...Buffer.from(record.id)) % world.sizes.people;
  return { ...record, peopleId: world.idOf('people', other) };
}
