/** What a person asks about a list, and the few things a person decides about it. Knows no Redis: it asks the stores. */
import { previewRules, type RulesPreview } from '../detect/preview.js';
import { compileRules, type FieldRules } from '../detect/rules.js';
import { listSchema, type ListSchema } from '../detect/schema.js';
import { listOf } from '../events/envelope.js';
import type { ListName } from '../events/lists.js';
import { explainRecord, type RecordStory } from '../sweep/explain.js';
import type { Sweeper } from './sweeper.js';

export interface Inspector {
  /** Why a record did or did not yield events: what is remembered, compared, left out, and the last decisions. */
  explain(list: ListName, id: string, workspace?: string): Promise<RecordStory>;
  /** The fields seen in a list, in which forms, on what share of its rows. */
  schema(list: ListName, workspace?: string): Promise<ListSchema>;
  /** What these rules would have made of the list's newest events. */
  previewRules(list: ListName, rules: FieldRules, options?: PreviewOptions): Promise<RulesPreview>;
  /** Lets a held mass removal through with the next sweep. @returns how many records it concerns; 0 when none is held */
  acceptRemovals(list: ListName, workspace?: string): Promise<number>;
  /** Lets held creations through with the next sweep. @returns how many it concerns; 0 when none are held */
  acceptCreations(list: ListName, workspace?: string): Promise<number>;
  /**
   * Forgets a list's baseline: its next sweep is quiet. What is known of its records, and their sequences, stay; where that sweep
   * shows another source (another base URL, or hardly any known record), the records it does not show are dropped without an event.
   */
  resync(list: ListName, workspace?: string): Promise<void>;
}

export interface PreviewOptions {
  workspace?: string | undefined;
  /** The newest so many events of the log. @defaultValue 10000 */
  limit?: number;
}

const LOOKED_BACK = 10_000;

export function createInspector(sweeper: Sweeper): Inspector {
  return {
    async explain(list, id, workspace) {
      const { store, rules } = sweeper.view(list, workspace);
      return await explainRecord(store, { list, id, rules });
    },
    schema: async (list, workspace) => listSchema(await sweeper.view(list, workspace).store.schema(list)),
    async previewRules(list, proposed, { workspace, limit = LOOKED_BACK } = {}) {
      const events = await sweeper.view(list, workspace).store.recentEvents(0, limit);
      const ofList = events.filter((event) => listOf(event) === list);
      return previewRules(ofList, compileRules(list, proposed));
    },
    acceptRemovals: async (list, workspace) => await sweeper.view(list, workspace).store.acceptRemovals(list),
    acceptCreations: async (list, workspace) => await sweeper.view(list, workspace).store.acceptCreations(list),
    resync: async (list, workspace) => await sweeper.view(list, workspace).store.forgetBaseline(list),
  };
}

export type { FieldRules, ListSchema, RecordStory, RulesPreview };
