/** What a person asks about a list, and decides about it. */
import { previewRules, type RulesPreview } from '../detect/preview.js';
import { compileRules, type FieldRules } from '../detect/rules.js';
import { listSchema, type ListSchema } from '../detect/schema-drift/schema.js';
import { listOf } from '../events/envelope.js';
import type { ListName } from '../events/lists.js';
import { explainRecord, type RecordStory } from '../sweep/explain.js';
import type { Workspaces } from './workspaces.js';

/** Each call takes the name of a workspace, which may be left out when there is only one. */
export interface Inspector {
  /** Why a record did or did not yield events: what is stored, compared and left out, and the last decisions. */
  explain(list: ListName, id: string, workspace?: string): Promise<RecordStory>;
  /** The fields seen in a list, their value types, and the share of rows that have them. */
  schema(list: ListName, workspace?: string): Promise<ListSchema>;
  /** How the newest events of the list would differ under these rules. */
  previewRules(list: ListName, rules: FieldRules, options?: PreviewOptions): Promise<RulesPreview>;
  /** Releases a held mass removal with the next sweep. @returns how many records it concerns; 0 when none is held */
  acceptRemovals(list: ListName, workspace?: string): Promise<number>;
  /** Releases held creations with the next sweep. @returns how many it concerns; 0 when none are held */
  acceptCreations(list: ListName, workspace?: string): Promise<number>;
  /**
   * Forgets a list's baseline: its next sweep is quiet. The stored records and their sequences stay. If that sweep shows another
   * source (another base URL, or hardly any known record), the records it does not show are removed without an event.
   */
  resync(list: ListName, workspace?: string): Promise<void>;
}

export interface PreviewOptions {
  workspace?: string | undefined;
  /** How many of the newest events of the log are read. @defaultValue 10000 */
  limit?: number;
}

const PREVIEWED_EVENTS = 10_000;

export function createInspector(workspaces: Workspaces): Inspector {
  return {
    async explain(list, id, workspace) {
      const { store, lists } = workspaces.choose(workspace);
      return await explainRecord(store, { list, id, rules: lists[list].rules });
    },
    schema: async (list, workspace) => listSchema(await workspaces.choose(workspace).store.schema(list)),
    async previewRules(list, proposed, { workspace, limit = PREVIEWED_EVENTS } = {}) {
      const events = await workspaces.choose(workspace).store.recentEvents(0, limit);
      const ofList = events.filter((event) => listOf(event) === list);
      return previewRules(ofList, compileRules(list, proposed));
    },
    acceptRemovals: async (list, workspace) => await workspaces.choose(workspace).store.acceptRemovals(list),
    acceptCreations: async (list, workspace) => await workspaces.choose(workspace).store.acceptCreations(list),
    resync: async (list, workspace) => await workspaces.choose(workspace).store.forgetBaseline(list),
  };
}

export type { FieldRules, ListSchema, RecordStory, RulesPreview };
