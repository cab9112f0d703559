import xxhash, { type XXHashAPI } from 'xxhash-wasm';

let loading: Promise<XXHashAPI> | undefined;

/**
 * Identifies the bytes of a page, to recognise a page that is as it was. 64 bits and the length, compared with one earlier digest
 * only. Not cryptographic: SHA-256 takes longer than downloading the page, and a person who can forge a page can change records
 * without forging.
 */
export async function pageDigest(bytes: Uint8Array): Promise<string> {
  loading ??= xxhash();
  const xx = await loading;
  return `${xx.h64Raw(bytes).toString(36)}-${bytes.length.toString(36)}`;
}
