import { buildEvent } from '../events/envelope.js';
import type { ChangeEvent, SchemaChange } from '../events/types.js';
import { digestOf } from './digest.js';
import { inEpoch } from './happening.js';
import type { Observation } from './input.js';
import type { Rules } from './rules.js';

/** One event for a field that moved on nearly all rows; its sequence is that of the field. */
export function schemaEvent(
  schema: SchemaChange,
  { rules, observation, sequence }: { rules: Rules; observation: Observation; sequence: number },
): ChangeEvent {
  return buildEvent({
    workspace: observation.workspace,
    list: rules.list,
    verb: 'schema_changed',
    recordId: `schema:${schema.field}`,
    time: observation.observedAt,
    contentDigest: inEpoch(digestOf(JSON.stringify([schema.kind, schema.before, schema.after])), observation),
    data: {
      before: null,
      after: null,
      changes: [],
      sequence,
      class: 'refreshed',
      detectedBy: 'content',
      observedAt: observation.observedAt,
      sweep: observation.sweep,
      schema,
    },
  });
}
