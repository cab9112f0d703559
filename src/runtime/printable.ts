/** Texts from outside, for a terminal: they must neither control it nor move or hide what stands next to them. */

/** On one line and without control characters, invisible ones, and those that change the direction of writing. */
export function printable(text: string): string {
  return text.replace(/\s+/gu, ' ').replace(/\p{C}/gu, '');
}

export function shorten(text: string, longest: number): string {
  const characters = Array.from(text);
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
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
