import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textOf } from '../../src/kit/utf8.js';

const long = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from('수정 날짜 '.repeat(10)), bytes]);

describe('textOf', () => {
  it.each([
    ['no bytes', Buffer.alloc(0)],
    ['a short text', Buffer.from('담당자')],
    ['ASCII', Buffer.from('id'.repeat(200))],
    ['Korean', long(Buffer.from('완료'))],
    ['an emoji', long(Buffer.from('😀'))],
    ['a byte order mark', long(Buffer.from('\ufeff'))],
    ['a character that is cut', long(Buffer.from('가').subarray(0, 2))],
    ['half a surrogate pair', long(Buffer.from([0xed, 0xa0, 0x80]))],
    ['a byte that is no UTF-8', long(Buffer.from([0xff]))],
  ])('utf8: %s reads as Node reads it', (_what, bytes) => {
    expect(textOf(bytes)).toBe(bytes.toString());
  });

  it('utf8: any text, and any bytes, read as Node reads them', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => textOf(long(Buffer.from(text))).endsWith(text)));
    fc.assert(fc.property(fc.uint8Array(), (bytes) => textOf(long(bytes)) === long(bytes).toString()));
  });
});
