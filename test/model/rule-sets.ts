/** The field rules of runs, each with an independent statement for the judge of which fields an event may name. */
import type { FieldRules } from '../../src/feed/detect/rules.js';

interface RuleSet {
  rules: FieldRules;
  /** Does not use the detector's patterns, so that the judge is independent. */
  compares: (field: string) => boolean;
}

const everything = (): boolean => true;

export const RULE_SETS = {
  none: { rules: {}, compares: everything },
  touch: { rules: { touch: true }, compares: everything },
  'no-collapse': { rules: { collapse: false }, compares: everything },
  ignoring: {
    rules: { ignore: ['*TODO*', '담당자', 'text', 'type'] },
    compares: (field) => !field.includes('TODO') && !['담당자', 'text', 'type'].includes(field),
  },
  only: {
    rules: { only: ['담당자', '*TODO*', '완료', 'text', 'fieldValue', '완료 날짜'] },
    compares: (field) =>
      field.includes('TODO') || ['담당자', '완료', 'text', 'fieldValue', '완료 날짜', '완료일'].includes(field),
  },
} as const satisfies Record<string, RuleSet>;
export type RuleSetName = keyof typeof RULE_SETS;
