/** One text per source: scheme and host in lower case, without a default port and trailing slashes. */
export function normaliseBaseUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}
