/** About 1.8 kB, in Korean, as the records seen in the wild. */
export function person(index: number): Record<string, unknown> & { id: string } {
  const custom = Object.fromEntries(
    Array.from({ length: 24 }, (_, n) => [`사용자 정의 필드 ${n}`, `값 ${index} ${n}`]),
  );
  return {
    id: `0198f0aa-1c00-7a10-8f01-${String(index).padStart(12, '0')}`,
    이름: `가상인 ${index}`,
    이메일: `p${index}@example.invalid`,
    '프로필 사진': null,
    '딜 개수': index % 7,
    담당자: { id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' },
    팀: [{ id: '5b0e0c52-0000-4000-8000-0000000000f1', name: '1팀' }],
    '생성 날짜': '2026-01-05T01:20:00.000Z',
    '수정 날짜': '2026-02-20T08:00:00.000Z',
    ...custom,
  };
}
