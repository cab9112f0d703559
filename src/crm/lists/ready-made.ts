/** Lists that a configuration switches on by name. They are as the vendor's public documentation describes them. */
import { historyOf, KEPT_BY_SYSTEM, named, ROWS } from './built-in.js';
import { USUAL, type ListDescriptor } from './descriptor.js';

/** The words of the documentation of the field `상태`, and those of its answers. */
const CLOSED = ['성사', '실패', 'Won', 'Lost', 'won', 'lost'];

/** There may be far more rows than records, so only their keys are stored. */
const HISTORY = { ...ROWS, recognisedOnly: true } as const;

const people_history = {
  ...HISTORY,
  ...named({ name: 'people_history', path: 'v2/people/history', key: 'peopleHistoryList', object: 'person_history' }),
  history: historyOf({ object: 'person', field: 'peopleId' }),
} as const satisfies ListDescriptor;

const organization_history = {
  ...HISTORY,
  ...named({
    name: 'organization_history',
    path: 'v2/organization/history',
    key: 'organizationHistoryList',
    object: 'organization_history',
  }),
  history: historyOf({ object: 'organization', field: 'organizationId' }),
} as const satisfies ListDescriptor;

const lead_history = {
  ...HISTORY,
  ...named({ name: 'lead_history', path: 'v2/lead/history', key: 'leadHistoryList', object: 'lead_history' }),
  history: historyOf({ object: 'lead', field: 'leadId' }),
} as const satisfies ListDescriptor;

const SALE = {
  ...USUAL,
  keyIsWritten: false,
  systemKept: KEPT_BY_SYSTEM,
  open: { field: '상태', closed: CLOSED },
} as const satisfies Partial<ListDescriptor>;

const deal = {
  ...SALE,
  ...named({ name: 'deal', path: 'v2/deal', key: 'dealList', object: 'deal' }),
} as const satisfies ListDescriptor;

const lead = {
  ...SALE,
  ...named({ name: 'lead', path: 'v2/lead', key: 'leadList', object: 'lead' }),
} as const satisfies ListDescriptor;

export const READY_MADE = [people_history, organization_history, lead_history, deal, lead] as const;
