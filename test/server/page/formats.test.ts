import { describe, expect, it } from 'vitest';
import { formats } from '../../../page/formats.js';

describe('page: times', () => {
  const { dateTime } = formats('en', (key: string) => key);

  it('a date of another year has its year, one of this year has not', () => {
    const now = new Date();
    expect(dateTime('2011-03-27T12:00:00Z')).toMatch(/^27 Mar 2011 \d\d:00:00$/);
    expect(dateTime(now.toISOString())).not.toContain(String(now.getFullYear()));
  });
});
