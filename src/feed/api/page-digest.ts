import xxhash, { type XXHashAPI } from 'xxhash-wasm';

let loading: Promise<XXHashAPI> | undefined;

/** What is hashed is copied into the memory of the WebAssembly module, which grows with it and never shrinks. */
const CHUNK_BYTES = 1024 * 1024;

/** 64 bits of xxHash and the length: SHA-256 takes longer than the download. A forger of pages needs no collision. */
export async function pageDigest(bytes: Uint8Array): Promise<string> {
  loading ??= xxhash();
  const hash = (await loading).create64();
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) hash.update(bytes.subarray(at, at + CHUNK_BYTES));
  return `${hash.digest().toString(36)}-${bytes.length.toString(36)}`;
}
