/** A record that the release before has stored (format version 6), which kept the names of fields in tables of their own. */
import { expect, it } from 'vitest';
import { recordField } from '../../src/state/keys.js';
import { createSweepStore } from '../../src/state/sweep-store.js';
import { useRedis } from '../support/redis.js';

const test = useRedis();

const record = {
  id: '0198f0aa-1c00-7a10-8f01-00000000a001',
  RecordId: '0198f0aa-1c00-7a10-8f01-00000000a001',
  이름: '가상인',
  담당자: { id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' },
  '최근 작성된 노트': '2차 미팅\n요청',
  '수신 거부 사유': null,
  '수정 날짜': '2026-02-20T08:00:00.000Z',
};
const STORED =
  'Nv+RreFnS/3Cpia5sa4BKnvfeYs20anGnUyM8SWTgtT8gpxUXUMsyQWRNN7M3fJ6WQv2BMLFpWRgaGmRZpCYqGuYbGCga55oaKBrkQZKnVCQaGBgqES0slcbGt40N76Zu0MJFq2mSQapBsmmRmCVSEnLAAEMEVH/unvL6+6djqAUYPRmwwqF1+t3vO1pjcl7M2vKm01rlSCJCRo0RrpGBiEGFshBAwA=';

it('former packing: a record is read with its table of names; without the table, the error names it', async () => {
  const { redis, keys } = test;
  const store = createSweepStore(redis, keys, 'acme');
  await redis.hset(keys.records('acme', 'people'), recordField('p1'), Buffer.from(STORED, 'base64'));
  expect(await store.digests('people', ['p1'])).toEqual(['91ade1674bfdc2a6']);
  await expect(store.records('people', ['p1'])).rejects.toMatchObject({
    code: 'CF_STATE_UNREADABLE',
    message: expect.stringMatching(
      /names:people", "2a7bdf79": expected the field names of stored records, found nothing\. .*DEL .*records:/,
    ) as string,
  });
  await redis.hset(keys.names('acme', 'people'), '2a7bdf79', JSON.stringify(Object.keys(record)));
  const [stored] = await store.records('people', ['p1']);
  expect(stored).toMatchObject({
    sequence: 4,
    digest: '91ade1674bfdc2a6',
    decisions: [{ what: 'edited', event: 'evt_1' }],
  });
  expect(stored?.image).toBe(JSON.stringify(record));
});
