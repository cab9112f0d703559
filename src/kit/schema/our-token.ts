/** A token that people choose and we check: whoever guesses it reads what it protects. */
import { matching } from './fields.js';
import { secret } from './secret.js';

// Guessing must be hopeless: the limit for wrong tokens never refuses a right one.
const OUR_TOKEN = /^[\x21-\x7e]{16,}$/;
/** Of 16 random hexadecimal digits, one in some thousand has fewer. */
const LEAST_VARIETY = 6;
const WORDS = /passw(?:or)?d|change-?me|letmein|qwerty/gi;

/** Too few different characters are left without words, repetitions and runs such as `1234`. */
function isGuessable(token: string): boolean {
  const codes = Array.from(token.replace(WORDS, ''), (one) => one.charCodeAt(0));
  return new Set(codes.filter((code, at) => Math.abs(code - (codes[at - 1] ?? 0)) > 1)).size < LEAST_VARIETY;
}

/** The schema of a token that we check. @param allowed says what one is */
export function ourToken(allowed: string) {
  const error = 'a token that cannot be guessed, such as one of openssl rand -hex 24';
  return secret(matching(OUR_TOKEN, allowed).refine((one) => !OUR_TOKEN.test(one) || !isGuessable(one), { error }));
}
