/** Texts from outside, for a terminal: they must neither control it nor move or hide what stands next to them. */

/** On one line and without control characters, invisible ones, and those that change the direction of writing. */
export function printable(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '');
}

const segmenter = new Intl.Segmenter();

/** @param longest in code points. A joined emoji or an accented letter is left out rather than cut. */
export function shorten(text: string, longest: number): string {
  // Before it is segmented: a text of a megabyte costs as much as a short one.
  const start = text.slice(0, 4 * longest);
  if (start === text && Array.from(text).length <= longest) return text;
  let kept = '';
  let room = longest - 1;
  for (const { segment } of segmenter.segment(start)) {
    room -= Array.from(segment).length;
    if (room < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Line breaks, tabs and escape stay, for the layout and the colours of our own output. */
export function escapeInvisible(text: string): string {
  return text.replace(/[^\P{C}\n\t\u001b]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}
