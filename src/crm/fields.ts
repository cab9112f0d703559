/** How a list's descriptor decides the comparison of a field: spellings and picture URLs. Field names are compared under NFC. */
import type { ListDescriptor } from './lists/descriptor.js';

export function isPictureField({ pictures }: ListDescriptor, field: string): boolean {
  return pictures.includes(field);
}

/** The name of a field in the interface, unless the record has both spellings. */
export function writtenName({ spellings }: ListDescriptor, field: string, record: object): string {
  const written = Object.hasOwn(spellings, field) ? spellings[field] : undefined;
  return written === undefined || written in record ? field : written;
}
