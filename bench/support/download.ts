/** The lower limit: the bytes of all pages, dropped. */
import { Pool } from 'undici';
import type { Contestant } from './turns.js';

export interface DownloadOptions {
  url: string;
  /** Path and query of every page: nothing needs to be read to find the next one. */
  paths: readonly string[];
  records: number;
  concurrency: () => number;
}

export function download({ url, paths, records, concurrency }: DownloadOptions): Contestant {
  return {
    name: 'download',
    sweep: async () => {
      const inFlight = concurrency();
      const pool = new Pool(url, { connections: inFlight });
      let next = 0;
      const ask = async (): Promise<void> => {
        for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
          const { body, statusCode } = await pool.request({ path, method: 'GET' });
          await body.arrayBuffer();
          if (statusCode !== 200) throw new Error(`download: ${path} was answered ${statusCode}`);
        }
      };
      await Promise.all(Array.from({ length: inFlight }, ask));
      await pool.close();
      return records;
    },
  };
}
