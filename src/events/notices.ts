/** The feed's own events: `changefeed.<subject>.<what>`, in the workspace's log. */
import type { ListName } from '../crm/lists/lists.js';
import { eventId } from './envelope.js';
import type { ChangeEvent, Notice, NoticeKind, NoticeType } from './types.js';

export interface NoticeDraft extends Notice {
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
  const { workspace, kind, subject, at, sequence, severity, message, since, list, problem } = draft;
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
      notice: { severity, message, since, list, ...(problem !== undefined && { problem }) },
    },
  };
}

export const SNAPSHOT_COMPLETE = 'changefeed.snapshot.complete';
/** Follows a snapshot after a loss in Redis: a record with a lower sequence is no longer in the list. */
export function snapshotComplete(
  of: Pick<NoticeDraft, 'workspace' | 'at' | 'since' | 'sequence'> & { list: ListName },
): ChangeEvent {
  const message = `Redis forgot changes, so every record of list "${of.list}" was sent. A record that you have with a lower sequence than this event is gone.`;
  return buildNotice({ ...of, kind: 'snapshot.complete', subject: `list:${of.list}`, severity: 'info', message });
}

/** Redis forgot what subscriptions were told: a subscription may want a snapshot. */
export function isForgetting({ type }: Pick<ChangeEvent, 'type'>): boolean {
  return type === 'changefeed.state.rewound' || type === 'changefeed.state.lost';
}

/** For notice, status and log while the lists have not been swept since Redis went back. */
export function rewoundMessage(workspace: string, { from, to }: { from: string; to: string }): string {
  return (
    `Workspace "${workspace}": Redis went back to an earlier state. What was written between ${from} and ${to} may be lost. Events are ` +
    `repeated, sequences go on far higher, and every list is swept again. Check the persistence of Redis.`
  );
}
