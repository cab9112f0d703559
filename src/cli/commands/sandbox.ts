import { ChangefeedError } from '../../errors.js';
import { parseDuration } from '../../runtime/duration.js';
import { createSandbox, type SandboxOptions as WorldOptions } from '../../server/sandbox/sandbox.js';
import { untilAborted } from '../../service.js';
import type { Io } from '../io.js';

export interface SandboxOptions extends Pick<
  WorldOptions,
  'seed' | 'token' | 'port' | 'host' | 'people' | 'organizations' | 'memos' | 'todos' | 'history' | 'activity' | 'rate'
> {
  limit: string;
  latency: number;
  journal?: string;
}

/** `changefeed sandbox`: the six endpoints over a synthetic workspace, until it is told to stop. */
export async function sandbox({ limit, latency, ...world }: SandboxOptions, io: Io): Promise<number> {
  const served = createSandbox({ ...world, limit: parseLimit(limit), latencyMs: latency });
  try {
    const { url, token } = await startOrExplain(served.start(), world.port);
    io.out(`sandbox listens: base URL ${url}  token ${token}`);
    await untilAborted(io.signal);
  } finally {
    await served.stop();
  }
  return 0;
}

async function startOrExplain<T>(starting: Promise<T>, port: number | undefined): Promise<T> {
  try {
    return await starting;
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE')) throw cause;
    throw new ChangefeedError('CF_USAGE', {
      cause,
      message: `--port: ${port} is taken by another program. Name a free one, or 0 for any.`,
    });
  }
}

/** `100/10s`; `0` or `none` is no limit. */
function parseLimit(text: string): { requests: number; perMs: number } | null {
  if (text === '0' || text === 'none') return null;
  const [, requests, window = ''] = /^(\d+)\/(.+)$/.exec(text) ?? [];
  const perMs = parseDuration(window);
  if (requests !== undefined && perMs !== undefined && perMs > 0) return { requests: Number(requests), perMs };
  throw new ChangefeedError('CF_USAGE', { message: `--limit: "${text}" is not of the form 100/10s, nor "none".` });
}
