/** The reads and commits of a workspace as spans. Each commit of events names its span, which becomes the parent of their deliveries. */
import type { FetchOptions, ReadApi } from '../api/read-api.js';
import type { ListName } from '../crm/lists/lists.js';
import type { ChangeEvent } from '../events/types.js';
import type { SpanOptions, Tracing } from '../runtime/tracing.js';
import type { DerivedCall } from '../state/event-log.js';
import type { TodoStore } from '../todos/store.js';

interface Traced {
  tracing: Tracing;
  workspace: string;
}

export function tracedApi(api: ReadApi, { tracing, workspace }: Traced): ReadApi {
  const reading = (list: ListName, { page, kind = 'walk', signal }: FetchOptions): SpanOptions => ({
    name: `read ${list}`,
    attributes: {
      'changefeed.workspace': workspace,
      'changefeed.list': list,
      'changefeed.page': page,
      'changefeed.request': kind,
    },
    interrupted: () => signal?.aborted === true,
  });
  return {
    ...api,
    fetchPage: (list, options) =>
      tracing.span(
        () => reading(list, options),
        () => api.fetchPage(list, options),
      ),
    fetchIfChanged: (list, options) =>
      tracing.span(
        () => reading(list, options),
        () => api.fetchIfChanged(list, options),
      ),
  };
}

export function tracedTodos(store: TodoStore, { tracing, workspace }: Traced): TodoStore {
  return {
    ...store,
    fire: (timer, todo, event) =>
      event === null
        ? store.fire(timer, todo, event)
        : tracing.span(
            () => publishSpan([event], { workspace, list: 'todo' }),
            ({ traceparent }) => store.fire(timer, todo, event, traceparent),
          ),
  };
}

type Append = (call: DerivedCall, events: readonly ChangeEvent[]) => Promise<unknown>;

export function tracedAppend(append: Append, tracing: Tracing): Append {
  return (call, events) =>
    tracing.span(
      () => publishSpan(events, call),
      ({ traceparent }) => append({ ...call, traceparent }, events),
    );
}

/** By the conventions of OpenTelemetry for messages; a single event is named. */
export function publishSpan(
  events: readonly ChangeEvent[],
  { workspace, list }: { workspace: string; list?: ListName },
): SpanOptions {
  const [only] = events.length === 1 ? events : [];
  return {
    name: `publish ${list ?? workspace}`,
    kind: 'producer',
    attributes: {
      'messaging.system': 'changefeed',
      'messaging.operation.type': 'send',
      'messaging.operation.name': 'publish',
      'messaging.destination.name': workspace,
      'messaging.batch.message_count': only === undefined ? events.length : undefined,
      'messaging.message.id': only?.id,
      'cloudevents.event_type': only?.type,
      'changefeed.workspace': workspace,
      'changefeed.list': list,
    },
  };
}
