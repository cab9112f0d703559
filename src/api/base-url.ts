/** The normal form of a base URL: equal for every spelling of one source (case of the host, default port, trailing slashes). */
export function normaliseBaseUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}
