/** The styles of cursor: how each encodes a position in a list, and how it is read when a client sends it back. */
import type { SandboxListName } from '../world/lists.js';
import type { Behaviour } from '../faults/behaviour.js';
import { fixedUuid } from '../world/ids.js';

/** The start of the next page, in all the forms that the styles need. */
export interface PagePosition {
  readonly list: SandboxListName;
  /** Id of the last row of the page. */
  readonly lastId: string;
  readonly position: number;
  /** The snapshot that the walk reads; null for other styles. */
  readonly snapshot: string | null;
}

export type Resumed =
  | { readonly by: 'id'; readonly id: string }
  | { readonly by: 'position'; readonly position: number; readonly snapshot: string | null };

export interface CursorOptions {
  now: () => number;
  lifetimeMs: () => number;
  seed: number;
}

type CursorStyle = Behaviour['cursor'];
// Single-use cursors are kept on the server: enough for any walk, bounded because clients may never use them.
const KEPT = 200_000;

export class Cursors {
  readonly #options: CursorOptions;
  readonly #singleUse = new Map<string, string>();
  #given = 0;

  constructor(options: CursorOptions) {
    this.#options = options;
  }

  /** The cursor for the page that begins at this position. */
  write(style: CursorStyle, { list, lastId, position, snapshot }: PagePosition): string {
    const { now, seed } = this.#options;
    switch (style) {
      case 'last-id':
        return lastId;
      case 'offset':
        return pack(['offset', list, position]);
      case 'expiring':
        return pack(['until', list, lastId, now() + this.#options.lifetimeMs()]);
      case 'snapshot':
        return pack(['snapshot', list, position, snapshot]);
      case 'single-use': {
        const cursor = fixedUuid(seed, 77, ++this.#given);
        this.#singleUse.set(cursor, `${list}:${lastId}`);
        if (this.#singleUse.size > KEPT) this.#singleUse.delete(this.#singleUse.keys().next().value ?? '');
        return cursor;
      }
    }
  }

  /** Null for a cursor that is unknown, used up, expired or of another list or style. */
  read(style: CursorStyle, list: SandboxListName, cursor: string): Resumed | null {
    if (style === 'last-id') return { by: 'id', id: cursor };
    if (style === 'single-use') return this.#useUp(list, cursor);
    const [kind, of, ...rest] = unpack(cursor);
    if (of !== list) return null;
    if (style === 'offset' && kind === 'offset' && typeof rest[0] === 'number') {
      return { by: 'position', position: rest[0], snapshot: null };
    }
    if (style === 'expiring' && kind === 'until' && typeof rest[0] === 'string' && typeof rest[1] === 'number') {
      return rest[1] > this.#options.now() ? { by: 'id', id: rest[0] } : null;
    }
    if (style === 'snapshot' && kind === 'snapshot' && typeof rest[0] === 'number' && typeof rest[1] === 'string') {
      return { by: 'position', position: rest[0], snapshot: rest[1] };
    }
    return null;
  }

  #useUp(list: SandboxListName, cursor: string): Resumed | null {
    const place = this.#singleUse.get(cursor);
    this.#singleUse.delete(cursor);
    const [of, id] = place?.split(':') ?? [];
    return of === list && id !== undefined ? { by: 'id', id } : null;
  }
}

function pack(parts: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

function unpack(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
