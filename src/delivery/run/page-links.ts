/** Addresses of the status page that messages have: of a record, and of the changes that a digest is about. Pure. */
import type { Lists } from '../../crm/lists/lists.js';
import { objectOf, workspaceOf } from '../../events/envelope.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Subscription } from '../handlers/handler.js';

/** Null: the configuration does not say under which address the page is reached. */
export function recordPage(event: ChangeEvent, { pageUrl, lists }: { pageUrl: string | undefined; lists: Lists }) {
  if (pageUrl === undefined) return null;
  const { data, subject } = event;
  const workspace = workspaceOf(event);
  if (data.notice !== undefined) return addressOf(pageUrl, 'problems', {});
  if (data.schema !== undefined) return addressOf(pageUrl, 'schema', { workspace });
  const list = lists.byObject(objectOf(event));
  // Of rows that are events themselves only the log has something to show.
  if (list === undefined || list.recognisedOnly)
    return addressOf(pageUrl, 'changes', { workspace, record: subject, show: 'all' });
  return addressOf(pageUrl, 'records', { workspace, list: list.name, id: subject });
}

/** The changes as this subscription selects them, so far as the page can filter. @param period ISO 8601, both ends inclusive */
export function changesPage(
  pageUrl: string | undefined,
  { on, lists, fields, class: wanted }: Pick<Subscription, 'on' | 'lists' | 'fields' | 'class'>,
  { workspace, from, to }: { workspace: string; from: string; to: string },
): string | null {
  if (pageUrl === undefined) return null;
  const [list, field] = [lists, fields].map((all) => (all?.length === 1 ? all[0] : undefined));
  return addressOf(pageUrl, 'changes', {
    workspace,
    ...(!on.includes('crm.*') && { type: on.join(',') }),
    ...(list !== undefined && { list }),
    ...(field !== undefined && { field }),
    since: from,
    until: to,
    // Without it, the page leaves out what no person has edited.
    ...(wanted !== 'edited' && { show: 'all' }),
  });
}

function addressOf(pageUrl: string, section: string, query: Readonly<Record<string, string>>): string {
  const given = new URLSearchParams(query).toString();
  return `${pageUrl.replace(/\/$/, '')}/#/${section}${given === '' ? '' : `?${given}`}`;
}
