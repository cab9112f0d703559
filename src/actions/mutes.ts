/** Actions on what a subscription says nothing of. */
import { z } from 'zod';
import { isoTime, systemClock } from '../kit/clock.js';
import { parseDuration } from '../kit/duration.js';
import { printable } from '../kit/printable.js';
import * as answers from '../ops/server/page/answers.js';
import { mutedRecord, mutedRecords } from '../ops/server/page/record-answers.js';
import { readableTexts } from '../ops/server/page/event-view.js';
import { defineAction } from './define.js';
import { list, subscription } from './fields.js';

const workspace = z.string().optional().describe('its workspace (default: the only one)');
const id = z.string().min(1).max(2_000).describe('its id');
const record = { subscription, list, id, workspace };

/** The id is in the body: what is in the address is logged. */
export const mute = defineAction({
  name: 'mute',
  id: 'muteRecord',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/mute',
  about: [
    'Says nothing more of a record in the messages of a subscription, for a time or until it is unmuted.',
    '받는 곳의 메시지에서 이 레코드를 알리지 않습니다. 정한 때까지, 또는 해제할 때까지.',
  ],
  input: z.strictObject({
    ...record,
    until: z
      .string()
      .min(1)
      .max(40)
      .optional()
      .describe('a duration from now such as 1d, or a time (default: until it is unmuted)'),
  }),
  answer: mutedRecord,
  // Not the id.
  audited: ({ workspace: name, list: of, until, count }, { subscription: muted }) =>
    count === 0 ? null : { subscription: muted, workspace: name, list: of, until: until ?? '', count },
  async run({ until, ...call }, { feed }) {
    const ms = until === undefined ? undefined : parseDuration(until);
    const at = ms === undefined ? until : isoTime(systemClock.now() + ms);
    const { changed, ...muted } = await feed.lists.mute({ ...call, until: at });
    return readableTexts({ ...muted, count: Number(changed) });
  },
  says: ({ title, until, id: muted }, { t, dateTime }, { subscription: name }) =>
    t(until === null ? 'mute.done' : 'mute.until', {
      ...{ record: printable(title ?? muted), subscription: name },
      until: until === null ? '' : dateTime(until),
    }),
});

export const unmute = defineAction({
  name: 'unmute',
  id: 'unmuteRecord',
  on: 'subscriptions',
  route: 'POST /api/subscriptions/:subscription/unmute',
  about: ['Says something of a muted record again.', '알리지 않던 레코드를 다시 알립니다.'],
  input: z.strictObject(record),
  answer: answers.done,
  audited: ({ count }, { subscription: name, list: of }) =>
    count === 0 ? null : { subscription: name, list: of, count },
  run: async (call, { feed }) => ({ count: Number(await feed.lists.unmute(call)) }),
  says: ({ count }, { t }, { subscription: name, id: unmuted }) =>
    t(count === 0 ? 'unmute.not' : 'unmute.done', { subscription: name, record: printable(unmuted) }),
});

export const listMuted = defineAction({
  name: 'muted',
  id: 'listMuted',
  on: 'subscriptions',
  route: 'GET /api/subscriptions/:subscription/muted',
  about: ['The records of which a subscription says nothing.', '받는 곳이 알리지 않는 레코드.'],
  input: z.strictObject({ subscription }),
  answer: mutedRecords,
  run: async ({ subscription: name }, { feed }) => readableTexts({ muted: await feed.lists.muted(name) }),
  says({ muted }, { t, dateTime }, { subscription: name }) {
    if (muted.length === 0) return t('muted.none', { subscription: name });
    const lines = muted.map(({ workspace: of, list: from, id: one, title, until }) => {
      const when = until === null ? '' : `  ${t('muted.until', { until: dateTime(until) })}`;
      return `${printable(of)}  ${from}  ${printable(one)}  ${printable(title ?? '')}${when}`.trimEnd();
    });
    return lines.join('\n');
  },
});
