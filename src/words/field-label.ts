/** What a person calls a field whose name is a programmer's. Fields of the CRM have names of their own. Pure. */
import { textOf, type Language } from './words.js';

/** The field itself where it needs no other name. */
export function fieldLabel(language: Language, field: string): string {
  return textOf(language, `label.${field}`) ?? field;
}
