import { readFileSync } from 'node:fs';

export function packageVersion(): string {
  // package.json is next to src/ in a checkout, and next to dist/ in the package.
  const urls = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url));
  for (const url of urls) {
    try {
      return (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version;
    } catch {
      continue;
    }
  }
  return 'unknown';
}
