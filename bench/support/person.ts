import { createHash } from 'node:crypto';

/**
 * A person of about 1.8 kB with Korean keys, as in real answers.
 * @param generation another number gives another content
 */
export function person(index: number, generation = 0): Record<string, unknown> & { id: string } {
  const custom = Object.fromEntries(
    Array.from({ length: 24 }, (_, n) => [`사용자 정의 필드 ${n}`, `값 ${index} ${n}`]),
  );
  return {
    id: idOf('person', index),
    organizationId: idOf('organization', index % 997),
    이름: generation === 0 ? `가상인 ${index}` : `가상인 ${index} (${generation})`,
    이메일: `p${index}@example.invalid`,
    전화: `010${String(index).padStart(8, '0')}`,
    '프로필 사진': null,
    '리드 개수': index % 3,
    '딜 개수': index % 7,
    '최근 작성된 노트': `2차 미팅을 요청함. 견적서를 다시 보내기로 하고 다음 주에 통화 예정 (${index})`,
    '최근 노트 작성일': '2026-02-19T04:10:00.000Z',
    담당자: { id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' },
    팀: [{ id: '5b0e0c52-0000-4000-8000-0000000000f1', name: '1팀' }],
    '수신 거부 여부': false,
    '생성 날짜': '2026-01-05T01:20:00.000Z',
    '수정 날짜': '2026-02-20T08:00:00.000Z',
    ...custom,
  };
}

/** Begins with a time, like the ids of real answers; the rest is as good as random, and cannot be compressed. */
function idOf(object: string, index: number): string {
  const time = (0x0198f0aa1c00 + index * 40_000).toString(16).padStart(12, '0');
  const rest = createHash('md5').update(`${object} ${index}`).digest('hex');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${rest.slice(0, 3)}-8${rest.slice(3, 6)}-${rest.slice(6, 18)}`;
}
