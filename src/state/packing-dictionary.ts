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
const FINGERPRINTS = '"-n"\n"-n"\n"~t"\n"~m"\n"~d"\n"~b"\n"~r"\n"~l"\n"~s"\n"~s"\n"~s"\n';
const BEGINNING = '"2026-0:00.000Z"\n"2026-0:00.000Z"\n"[0,{"modifiedAt":"2026-0';

export const DICTIONARY: Buffer = Buffer.from(`${DECISIONS}${VALUES}${FINGERPRINTS}${BEGINNING}`, 'utf8');
