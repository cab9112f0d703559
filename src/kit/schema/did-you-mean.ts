/** "Did you mean …?": the candidate that takes the fewest edits to reach. */

/** ` (did you mean "x"?)`, or nothing when no candidate is close. */
export function didYouMean(text: string, candidates: readonly string[]): string {
  const candidate = nearest(text, candidates);
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`;
}

/** Undefined when more than half of it or of the text would have to change: "nope" does not mean "people". */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(text.toLowerCase(), candidate.toLowerCase());
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  if (best === undefined || best.distance > Math.min(text.length, best.candidate.length) / 2) return undefined;
  return best.candidate;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const removal = (previous[column] ?? 0) + 1;
      const insertion = (current[column - 1] ?? 0) + 1;
      current.push(Math.min(substitution, removal, insertion));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
