/** The options of `message`. */
import { z } from 'zod';
import { strictOptions, wholeNumber } from '../../schema-kit/fields.js';
import { subscriptionShape, type SubscriptionOptions } from '../options.js';
import { endpointShape, toEndpoint, type EndpointOptions } from '../http/endpoint.js';
import { DEFAULT_TEMPLATE, readTemplate } from './template.js';

export interface MessageOptions extends SubscriptionOptions, EndpointOptions {
  /**
   * The message, with `{{title}}`, `{{changes}}`, `{{after.이름}}`, `{{record.담당자 | nobody}}` and the like in it.
   * @defaultValue `'*{{title}}* – {{object}} {{verb}}\n{{changes}}'`
   */
  template?: string | undefined;
  /** Sent beside `text`, as it is: `{ channel, username, icon_emoji, unfurl_links … }`. @defaultValue none */
  payload?: Readonly<Record<string, unknown>> | undefined;
}

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

const strict = strictOptions({
  ...subscriptionShape,
  // One at a time, once a second: the order of the messages is that of the events, and Slack allows no more.
  concurrency: wholeNumber(1, 1_000).default(1),
  url: endpointShape.url,
  template: template.prefault(DEFAULT_TEMPLATE),
  payload: z
    .record(z.string(), z.unknown(), { error: A_PAYLOAD })
    .refine((payload) => !('text' in payload), { error: A_PAYLOAD })
    .default({}),
  allowHosts: endpointShape.allowHosts,
  rate: endpointShape.rate.unwrap().default({ requests: 1, perSeconds: 1 }),
  disableAfter: endpointShape.disableAfter,
});

export const messageSchema = strict.transform((options, context) => toEndpoint(options, context)) satisfies z.ZodType<
  unknown,
  MessageOptions
>;

export type MessageSettings = z.output<typeof messageSchema>;
