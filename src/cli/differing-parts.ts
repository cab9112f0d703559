/** Characters of equal text that are kept around a difference. */
const CONTEXT = 4;

/** Two texts without what they share at the beginning and at the end, but for a few characters, which show where the difference is. */
export function differingParts(before: string, after: string): [before: string, after: string] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const part = (text: string): string => {
    const from = atCharacter(text, head - CONTEXT);
    const to = atCharacter(text, text.length - tail + CONTEXT);
    return `${from > 1 ? '…' : ''}${text.slice(from > 1 ? from : 0, to)}${to < text.length ? '…' : ''}`;
  };
  return [part(before), part(after)];
}

/** Not between the two halves of a character that takes two places in a string. */
function atCharacter(text: string, index: number): number {
  const at = Math.min(Math.max(index, 0), text.length);
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}
