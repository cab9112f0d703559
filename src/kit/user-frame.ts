import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBundled } from './package-files.js';

export interface UserFrame {
  file: string;
  line: number;
  column: number;
}

/** The folder of the compiled program, or of its source: what is in it is not a file of the user. A bundle is one. */
const PACKAGE = isBundled ? null : fileURLToPath(new URL('..', import.meta.url));

/** The first place of a stack that is in a file of the user: neither in this package nor in another one. */
export function userFrame(stack: string): UserFrame | undefined {
  for (const [, address = '', line = '', column = ''] of stack.matchAll(
    /(?:at |\()((?:file:|\/|[A-Za-z]:\\)[^()\n]*?):(\d+):(\d+)\)?$/gm,
  )) {
    const file = address.startsWith('file:') ? fileURLToPath(address) : address;
    if (!/[\\/]node_modules[\\/]/.test(file) && (PACKAGE === null || !file.startsWith(PACKAGE)))
      return { file, line: Number(line), column: Number(column) };
  }
  return undefined;
}

/** `changefeed.config.ts:20:91`, from the working directory; undefined when no frame is in a file of the user. */
export function placeIn(stack: string): string | undefined {
  const frame = userFrame(stack);
  if (frame === undefined) return undefined;
  const name = relative(process.cwd(), frame.file);
  return `${name.startsWith('..') ? frame.file : name}:${frame.line}:${frame.column}`;
}
