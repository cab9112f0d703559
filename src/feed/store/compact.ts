/**
 * Values of a record in few bytes, each with a byte that says what it is. Names of fields that many records have are numbers, ids are 16 bytes, times are 6.
 * Faster than deflating, which pays for long texts only.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { DICTIONARY } from './packing-dictionary.js';
import { packNumber, readPackedNumber } from './packing.js';
import { textOf } from '../../kit/utf8.js';

/** Only add at the end: the places are stored. */
const NAMES = [
  ...[
    'id',
    'name',
    'type',
    'actor',
    'actors',
    'mergedInto',
    '수정 날짜',
    'updatedAt',
    '담당자',
    '팀',
    '이름',
    '이메일',
    '전화',
  ],
  ...[
    '단계',
    '상태',
    '금액',
    '제목',
    '내용',
    '유형',
    '완료',
    '완료 날짜',
    '마지막 날짜',
    '시작 날짜',
    '리드 개수',
    '딜 개수',
  ],
  ...['진행중 딜 개수', '성사된 딜 개수', '실패된 딜 개수', '최근 작성된 노트', '최근 노트 작성일', '최근 노트 작성자'],
  ...[
    '다음 TODO',
    '전체 TODO',
    '완료 TODO',
    '미완료 TODO',
    '다음 TODO 날짜',
    '최근 고객 활동일',
    '최근 연락일',
    '총 매출',
  ],
  ...[
    '종료된 딜 수',
    '연결된 고객 수',
    '포지션',
    'text',
    'peopleId',
    'organizationId',
    'dealId',
    'ownerId',
    'value',
    'label',
  ],
] as const;
const PLACES = new Map<string, number>(NAMES.map((name, at) => [name, at + 1]));

const [NULL, FALSE, TRUE, COUNT, NUMBER, TEXT, UUID, TIME, LIST, OBJECT, REFERENCE, LONG] = [
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
] as [number, number, number, number, number, number, number, number, number, number, number, number];
const UUID_FORM = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u;
const TIME_FORM = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u;
const UUID_BYTES = 16;
const TIME_BYTES = 6;
const LONG_TEXT = 100;
const DEFLATE = { level: 5, memLevel: 5, chunkSize: 1_024, dictionary: DICTIONARY };

export function compact(value: unknown): Buffer {
  const parts: Buffer[] = [];
  write(value, parts);
  return Buffer.concat(parts);
}

function write(value: unknown, parts: Buffer[]): void {
  if (typeof value === 'string') writeText(value, parts);
  else if (typeof value === 'number') writeNumber(value, parts);
  else if (typeof value === 'boolean') parts.push(Buffer.of(value ? TRUE : FALSE));
  else if (typeof value !== 'object' || value === null) parts.push(Buffer.of(NULL));
  else if (Array.isArray(value)) {
    parts.push(Buffer.of(LIST), packNumber(value.length));
    for (const one of value) write(one, parts);
  } else writeObject(Object.entries(value), parts);
}

function writeObject(entries: readonly (readonly [name: string, value: unknown])[], parts: Buffer[]): void {
  const isReference = entries.length === 2 && entries[0]?.[0] === 'id' && entries[1]?.[0] === 'name';
  parts.push(isReference ? Buffer.of(REFERENCE) : Buffer.concat([Buffer.of(OBJECT), packNumber(entries.length)]));
  for (const [name, value] of entries) {
    const place = PLACES.get(name);
    if (!isReference) parts.push(packNumber(place ?? 0));
    if (!isReference && place === undefined) parts.push(...sized(Buffer.from(name)));
    write(value, parts);
  }
}

function writeNumber(value: number, parts: Buffer[]): void {
  if (Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0))
    parts.push(Buffer.of(COUNT), packNumber(value));
  else parts.push(Buffer.of(NUMBER), ...sized(Buffer.from(JSON.stringify(value))));
}

function writeText(text: string, parts: Buffer[]): void {
  if (UUID_FORM.test(text)) parts.push(Buffer.from(`0${UUID}${text.replaceAll('-', '')}`, 'hex'));
  else if (TIME_FORM.test(text) && isTime(text)) {
    const time = Buffer.alloc(1 + TIME_BYTES, TIME);
    time.writeUIntBE(Date.parse(text), 1, TIME_BYTES);
    parts.push(time);
  } else if (text.length < LONG_TEXT)
    parts.push(Buffer.of(TEXT), ...sized(Buffer.from(JSON.stringify(text).slice(1, -1))));
  else parts.push(Buffer.of(LONG), ...sized(deflateRawSync(JSON.stringify(text), DEFLATE)));
}

function isTime(text: string): boolean {
  const ms = Date.parse(text);
  return ms >= 0 && new Date(ms).toISOString() === text;
}

function sized(bytes: Buffer): [Buffer, Buffer] {
  return [packNumber(bytes.length), bytes];
}

/** Reads one value after the other. @throws Error where the bytes are none */
export class CompactReader {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  read(): unknown {
    const kind = this.#bytes[this.#skip(1)];
    if (kind === NULL) return null;
    if (kind === FALSE || kind === TRUE) return kind === TRUE;
    if (kind === COUNT) return this.#number();
    if (kind === NUMBER) return JSON.parse(this.#sized().toString()) as unknown;
    if (kind === TEXT) return JSON.parse(`"${textOf(this.#sized())}"`) as unknown;
    if (kind === UUID) return this.#uuid();
    if (kind === TIME) return new Date(this.#bytes.readUIntBE(this.#skip(TIME_BYTES), TIME_BYTES)).toISOString();
    if (kind === LIST) return Array.from({ length: this.#count() }, () => this.read());
    if (kind === REFERENCE) return { id: this.read(), name: this.read() };
    if (kind === OBJECT)
      return Object.fromEntries(Array.from({ length: this.#count() }, () => [this.#name(), this.read()]));
    if (kind === LONG) return JSON.parse(textOf(inflateRawSync(this.#sized(), { dictionary: DICTIONARY }))) as unknown;
    throw new Error('There is no such kind of value.');
  }

  #name(): string {
    const place = this.#number();
    return NAMES[place - 1] ?? this.#sized().toString();
  }

  #number(): number {
    const { number, end } = readPackedNumber(this.#bytes, this.#at);
    if (end > this.#bytes.length) throw new Error('A number is cut off.');
    this.#at = end;
    return number;
  }

  /** Each has a byte at least. */
  #count(): number {
    const count = this.#number();
    if (count > this.#bytes.length) throw new Error('There are fewer values.');
    return count;
  }

  #sized(): Buffer {
    return this.#take(this.#number());
  }

  #uuid(): string {
    const at = this.#skip(UUID_BYTES);
    const hex = this.#bytes.toString('hex', at, this.#at);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }

  #take(bytes: number): Buffer {
    const at = this.#skip(bytes);
    return this.#bytes.subarray(at, this.#at);
  }

  /** @returns where the bytes begin */
  #skip(bytes: number): number {
    const at = this.#at;
    if (at + bytes > this.#bytes.length) throw new Error('A value is cut off.');
    this.#at += bytes;
    return at;
  }
}
