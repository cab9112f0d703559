/** Rotates a full file: `path` becomes `path.1`, `path.1` becomes `path.2` …; files beyond `keep` are removed. */
import { rename, rm } from 'node:fs/promises';

export async function rotateFiles(path: string, keep: number): Promise<void> {
  await rm(`${path}.${keep}`, { force: true });
  for (let number = keep; number >= 1; number -= 1) {
    await renameIfThere(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`);
  }
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
