/** Counts what is open, with a share for each caller: a limit for all together would let one shut out the others. */

export interface Share {
  most: number;
  mostOfOne: number;
}

export type Places = ReturnType<typeof createPlaces>;

export function createPlaces(share: Share) {
  const open = new Map<string, number>();
  let all = 0;
  const count = (name: string, change: 1 | -1): void => {
    const left = (open.get(name) ?? 0) + change;
    if (left === 0) open.delete(name);
    else open.set(name, left);
    all += change;
  };
  return {
    /** @returns what gives the place back, to be called once; or the limit that is reached */
    enter(name: string, { most, mostOfOne }: Share = share): (() => void) | 'no place' | 'no place for this one' {
      if (all >= most) return 'no place';
      if ((open.get(name) ?? 0) >= mostOfOne) return 'no place for this one';
      count(name, 1);
      return () => count(name, -1);
    },
  };
}
