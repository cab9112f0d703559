/** The options of `message`. */
import { z } from 'zod';
import { strictOptions, wholeNumber } from '../../schema-kit/fields.js';
import { secret } from '../../schema-kit/secret.js';
import { endpointShape, rateOptions, toEndpoint } from '../http/endpoint.js';
import { subscriptionShape } from '../options.js';
import { DEFAULT_TEMPLATE, readTemplate } from './template.js';

const A_TEMPLATE = 'a text that is not empty, with {{title}}, {{changes}}, {{after.이름}} and the like in it';
const A_PAYLOAD = 'an object of fields that the service knows, other than text';

const template = z
  .string({ error: A_TEMPLATE })
  .refine((text) => text.trim() !== '', { error: A_TEMPLATE })
  .transform((source, context) => {
    const result = readTemplate(source);
    if (result.outcome === 'read') return result.template;
    context.addIssue({ code: 'custom', message: result.allowed });
    return z.NEVER;
  });

const messageOptions = strictOptions({
  ...subscriptionShape,
  ...endpointShape,
  /** Number of messages one process sends at the same time. With one, messages have the order of the events. @defaultValue 1 */
  concurrency: wholeNumber(1, 1_000).default(1),
  /** Upper bound of the requests that all processes together send; Slack allows one per second. @defaultValue one per second */
  rate: rateOptions.default({ requests: 1, perSeconds: 1 }),
  /**
   * The text of the message, with placeholders such as `{{title}}`, `{{changes}}`, `{{after.이름}}` or `{{record.담당자 | unassigned}}`.
   * @defaultValue `'*{{title}}* – {{object}} {{verb}}\n{{changes}}'`
   */
  template: template.prefault(DEFAULT_TEMPLATE),
  /** Sent next to `text`, unchanged: `{ channel, username, icon_emoji … }`. @defaultValue `{ unfurl_links: false, unfurl_media: false }`, which stay unless they are given */
  payload: secret(
    z
      .record(z.string(), z.unknown(), { error: A_PAYLOAD })
      .refine((payload) => !('text' in payload), { error: A_PAYLOAD }),
  )
    .readonly()
    .default({}),
});

export const messageSchema = messageOptions.transform((options, context) => toEndpoint(options, context));

export type MessageOptions = z.input<typeof messageSchema>;
export type MessageSettings = z.output<typeof messageSchema>;
