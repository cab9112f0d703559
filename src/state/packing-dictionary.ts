/**
 * The preset dictionary of the record packing: texts that most records contain besides the names of their fields, which are kept apart
 * (field-names.ts). Do not edit it: a record packed with one dictionary cannot be read with another. Another dictionary needs another format
 * version. The most frequent texts come last, where references to them are shortest.
 */
const DECISIONS =
  '["","earlier":["doubt":{"content":"","sweep":"","sightings":1}"gone":{"at":"","modifiedAt":' +
  '"decisions":[{"at":"2026-01-01T00:00:00.000Z","sweep":"","what":"edited","refreshed","stale","fields":[""],"event":"evt_1"}]}]';
const VALUES =
  '"https://www.example.com/.com"\n""@gmail.com"\n"+82010-"-4000-8000-","type":"editField"user","api"workflow"\n' +
  'true\n[]\n[]\nfalse\nnull\nnull\nnull\n0\n0\n1\n[{"id":"","name":""}]\n{"id":"","name":""}\n';
/** Fingerprints as packing.ts writes them. */
const FINGERPRINTS =
  '"1 ~ = list of {id, name}"\n"1 - = empty list"\n"1 ~ = {id, name}"\n"1 ~ = timestamp to the minute"\n"1 ~ = boolean"\n"1 ~ = number"\n' +
  '"1 ~ = timestamp"\n"1 - = null"\n"1 ~ = string"\n';
const BEGINNING = '"2026-0:00.000Z"\n"2026-0:00.000Z"\n"[0,{"modifiedAt":"2026-0';

export const DICTIONARY: Buffer = Buffer.from(`${DECISIONS}${VALUES}${FINGERPRINTS}${BEGINNING}`, 'utf8');
