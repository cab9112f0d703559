import { describe, expect, it } from 'vitest';
import { USUAL } from '../../src/crm/lists/descriptor.js';
import { createLists } from '../../src/crm/lists/lists.js';
import { listsForWord, referencesIn } from '../../src/crm/references.js';

const deal = { ...USUAL, name: 'deals', path: 'v2/deal', key: null, object: 'deal' } as const;
const lists = createLists([deal]);

describe('references: the records that a record names', () => {
  it('finds ids by the name or the object of a list, a configured one included', () => {
    const memo = { id: 'm', peopleId: 'p', organizationId: 'o', dealId: 'd', leadId: 'l', todoId: null, ownerId: 'u' };
    expect(referencesIn(memo, lists)).toEqual([
      { list: 'people', id: 'p' },
      { list: 'organization', id: 'o' },
      { list: 'deals', id: 'd' },
    ]);
  });

  it('finds references as objects with id or _id, and in lists', () => {
    const row = { people: { _id: 'p', name: 'x' }, organization: [{ id: 'o' }, { id: 'o2' }], 담당자: { id: 'u' } };
    expect(referencesIn(row, lists)).toEqual([
      { list: 'people', id: 'p' },
      { list: 'organization', id: 'o' },
      { list: 'organization', id: 'o2' },
    ]);
  });

  it('names each record once, and takes nothing else for an id', () => {
    const odd = { peopleId: 7, people: 'p', personId: 'p', contactId: 'p', Id: 'x', todoId: '', memo: [[{ id: 'm' }]] };
    expect(referencesIn(odd, lists)).toEqual([{ list: 'people', id: 'p' }]);
  });

  it('knows the words of the vendor, and the two objects that one field may name', () => {
    expect(
      ['고객', '회사', '딜', '리드', 'dealLead', '__proto__', 'constructor'].map((word) => listsForWord(word, lists)),
    ).toEqual([['people'], ['organization'], ['deals'], [], ['deals'], [], []]);
  });
});
