/** The feed's own events: `changefeed.<subject>.<what>`, in the workspace's log. */
import type { ListName } from '../crm/lists/lists.js';
import { englishMessage } from '../words/problems.js';
import { eventId } from './envelope.js';
import type { NoticeKind, NoticeType } from './kinds.js';
import type { ChangeEvent, Notice } from './types.js';

export interface NoticeDraft extends Omit<Notice, 'message'> {
  /** @defaultValue made of the facts */
  message?: string;
  workspace: string;
  kind: NoticeKind;
  /** `workspace`, `list:<list>`, `subscription:<name>`, `role:<role>` or `loop:<name>`. */
  subject: string;
  /** ISO 8601: when it was noticed. */
  at: string;
  sequence: number;
}

/** The id depends on the problem and its time: reported twice, it is one event. Its end has its own time. */
export function buildNotice(draft: NoticeDraft): ChangeEvent {
  const { workspace, kind, subject, at, sequence, severity, since, list, problem, facts } = draft;
  const message = draft.message ?? englishMessage(kind, facts ?? {});
  const type: NoticeType = `changefeed.${kind}`;
  return {
    specversion: '1.0',
    id: eventId([workspace, type, subject, ...(problem === undefined ? [since ?? at] : [problem, at])]),
    source: `/workspaces/${workspace}`,
    type,
    subject,
    time: at,
    datacontenttype: 'application/json',
    data: {
      before: null,
      after: null,
      changes: [],
      sequence,
      class: 'edited',
      detectedBy: 'clock',
      observedAt: at,
      sweep: '',
      notice: { severity, message, since, list, ...(problem && { problem }), ...(facts && { facts }) },
    },
  };
}

export const SNAPSHOT_COMPLETE = 'changefeed.snapshot.complete';
/** Follows a snapshot after a loss in Redis, once all of the list was delivered: a record with a lower sequence is not in the list. */
export function snapshotComplete(
  of: Pick<NoticeDraft, 'workspace' | 'at' | 'since' | 'sequence'> & { list: ListName },
): ChangeEvent {
  return buildNotice({
    ...{ ...of, kind: 'snapshot.complete', subject: `list:${of.list}`, severity: 'info', facts: { list: of.list } },
  });
}

/** Redis forgot what subscriptions were told: a subscription may want a snapshot. */
export function isForgetting({ type }: { type: string }): boolean {
  return type === 'changefeed.state.rewound' || type === 'changefeed.state.lost';
}
