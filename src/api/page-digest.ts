import xxhash, { type XXHashAPI } from 'xxhash-wasm';

export type HashBytes = (bytes: Uint8Array) => bigint;

let loading: Promise<XXHashAPI> | undefined;

/** xxHash, 64 bits. Not cryptographic: SHA-256 takes longer than downloading the bytes. */
export async function loadHash(): Promise<HashBytes> {
  loading ??= xxhash();
  const xx = await loading;
  return (bytes) => xx.h64Raw(bytes);
}

/**
 * Identifies the bytes of a page, to recognise a page that is as it was. 64 bits and the length, compared with one earlier digest
 * only. A person who can forge a page can change records without forging.
 */
export async function pageDigest(bytes: Uint8Array): Promise<string> {
  const hash = await loadHash();
  return `${hash(bytes).toString(36)}-${bytes.length.toString(36)}`;
}
