/** A program's environment variables. Pure. */
import type { ChangeEvent } from '../../events/types.js';
import type { HandlerContext } from '../handler.js';

/** Programs get events and not access to the CRM. `env` can pass the token on under another name. */
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
    // An environment variable cannot contain NUL, and a program must not fail to start because of one.
    CHANGEFEED_EVENT_SUBJECT: event.subject.replaceAll('\0', ''),
    CHANGEFEED_WORKSPACE: workspace,
    CHANGEFEED_SUBSCRIPTION: subscription,
    CHANGEFEED_ATTEMPT: String(attempt),
  };
}
