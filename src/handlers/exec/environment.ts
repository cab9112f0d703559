/** What a program finds in its environment. Pure. */
import type { ChangeEvent } from '../../events/types.js';
import type { HandlerContext } from '../handler.js';

/** Programs read events, not the CRM: the key to it stays here unless `env` hands it on under a name of its own. */
const WITHHELD = 'CHANGEFEED_TOKEN';

export function environmentOf(
  event: ChangeEvent,
  { attempt, subscription, workspace }: Pick<HandlerContext, 'attempt' | 'subscription' | 'workspace'>,
  { inherited, own }: { inherited: NodeJS.ProcessEnv; own: Readonly<Record<string, string>> },
): NodeJS.ProcessEnv {
  const { [WITHHELD]: _withheld, ...rest } = inherited;
  return {
    ...rest,
    ...own,
    CHANGEFEED_EVENT_ID: event.id,
    CHANGEFEED_EVENT_TYPE: event.type,
    // An environment cannot hold NUL, and a program must not fail to start for the sake of one.
    CHANGEFEED_EVENT_SUBJECT: event.subject.replaceAll('\0', ''),
    CHANGEFEED_WORKSPACE: workspace,
    CHANGEFEED_SUBSCRIPTION: subscription,
    CHANGEFEED_ATTEMPT: String(attempt),
  };
}
