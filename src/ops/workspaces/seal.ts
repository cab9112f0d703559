/**
 * Tokens, and the data of workspaces, as they are stored: AES-256-GCM. What is sealed for one workspace and address opens for no other: who can write to
 * Redis cannot have a token sent elsewhere.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { ChangefeedError } from '../../kit/errors.js';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const FORM = 'v1';

export interface Secrets {
  token: string;
  data: Readonly<Record<string, unknown>>;
}

/** For what it is sealed. */
export interface SealedFor {
  workspace: string;
  baseUrl: string;
}

export interface Keyring {
  seal(secrets: Secrets, of: SealedFor): string;
  /** @throws ChangefeedError CF_TOKEN_SEALED where no key opens it */
  open(sealed: string, of: SealedFor): Secrets;
  /** Sealed by the key that seals now: another one may be removed once nothing needs it. */
  isNewest(sealed: string): boolean;
}

/** @param text one or two keys (`keysFault`): the first seals, each opens */
export function createKeyring(text: string): Keyring {
  const keys = keysIn(text);
  const [newest] = keys;
  if (newest === undefined) throw new ChangefeedError('CF_INTERNAL', { message: 'A keyring needs a key.' });
  return {
    seal(secrets, of) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, newest.key, iv).setAAD(boundTo(of));
      const parts = [iv, cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final(), cipher.getAuthTag()];
      return [FORM, newest.id, Buffer.concat(parts).toString('base64url')].join('.');
    },
    open(sealed, of) {
      const [form, id, body = ''] = sealed.split('.');
      const key = keys.find((one) => form === FORM && one.id === id)?.key;
      if (key === undefined) throw sealedToken(of, 'it was stored with another key');
      const bytes = Buffer.from(body, 'base64url');
      const [iv, rest, tag] = [bytes.subarray(0, IV_BYTES), bytes.subarray(IV_BYTES, -16), bytes.subarray(-16)];
      try {
        const decipher = createDecipheriv(ALGORITHM, key, iv, { authTagLength: 16 })
          .setAAD(boundTo(of))
          .setAuthTag(tag);
        const text = Buffer.concat([decipher.update(rest), decipher.final()]).toString('utf8');
        return JSON.parse(text) as Secrets;
      } catch {
        throw sealedToken(of, 'what is stored was changed, or belongs to another workspace or address');
      }
    },
    isNewest: (sealed) => sealed.startsWith(`${FORM}.${newest.id}.`),
  };
}

/** Why a text is not one key or two; undefined where it is. */
export function keysFault(text: string): string | undefined {
  const parts = partsOf(text);
  if (parts.length > 2) return `this has ${parts.length}`;
  const at = parts.findIndex((part) => bytesOf(part) === undefined);
  return at === -1 && parts.length > 0 ? undefined : 'one of them is not 32 bytes long';
}

function keysIn(text: string): { id: string; key: Buffer }[] {
  return partsOf(text).flatMap((part) => {
    const key = bytesOf(part);
    // Which key it was, without a hint of the key itself.
    return key === undefined ? [] : [{ key, id: createHash('sha256').update(key).digest('base64url').slice(0, 8) }];
  });
}

function partsOf(text: string): string[] {
  return text.split(/[\s,]+/).filter((part) => part !== '');
}

function bytesOf(part: string): Buffer | undefined {
  if (!/^[\w+/-]+=*$/.test(part)) return undefined;
  const bytes = Buffer.from(part, /^[0-9a-f]{64}$/i.test(part) ? 'hex' : 'base64');
  return bytes.length === KEY_BYTES ? bytes : undefined;
}

function boundTo({ workspace, baseUrl }: SealedFor): Buffer {
  return Buffer.from(JSON.stringify(['workspace', workspace, baseUrl]));
}

function sealedToken({ workspace }: SealedFor, why: string): ChangefeedError {
  const message = `The stored token of the workspace "${workspace}" cannot be opened: ${why}. Give CHANGEFEED_KEY the key it was stored with as well ("new,old"), or put the workspace again with its token and data (changefeed workspaces put ${workspace}).`;
  return new ChangefeedError('CF_TOKEN_SEALED', { workspace, message });
}
