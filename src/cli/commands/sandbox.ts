import { ChangefeedError } from '../../errors.js';
import { PROFILES } from '../../sandbox/faults/profiles.js';
import { createSandbox, type SandboxOptions as WorldOptions } from '../../sandbox/sandbox.js';
import { untilAborted } from '../../app/process.js';
import type { Io } from '../io.js';
import { table } from '../table.js';

export interface SandboxOptions extends Pick<
  WorldOptions,
  | 'seed'
  | 'token'
  | 'port'
  | 'host'
  | 'people'
  | 'organizations'
  | 'memos'
  | 'todos'
  | 'history'
  | 'activity'
  | 'rate'
  | 'records'
> {
  /** `list` prints the profiles. */
  profile?: string;
  /** Port of the control API. */
  control?: number;
  controlToken?: string;
  /** Null is no limit. */
  limit?: { requests: number; perMs: number } | null;
  /** Ms. */
  latency?: number;
  journal?: string;
  /** Further lists: how many records by name. */
  list?: Readonly<Record<string, number>>;
}

/** `changefeed sandbox`: serves the read API from a synthetic workspace until the process is asked to stop. */
export async function sandbox(options: SandboxOptions, io: Io): Promise<number> {
  const { limit, latency, control, controlToken, list, ...world } = options;
  if (world.profile === 'list') {
    const rows = PROFILES.map(({ name, sound, does }) => [name, sound ? 'sound' : 'unsound', does]);
    io.out(table(['profile', '', 'what it does'], rows, io.colours.out));
    return 0;
  }
  const served = createSandbox({
    ...world,
    ...(list !== undefined && { lists: list }),
    ...(limit !== undefined && { limit }),
    ...(latency !== undefined && { latencyMs: latency }),
    ...(control !== undefined && {
      control: { port: control, ...(controlToken !== undefined && { token: controlToken }) },
    }),
  });
  try {
    const { url, token, control: controlApi } = await startOrExplain(served.start(), world.port);
    io.out(`sandbox listens: base URL ${url}  token ${token}`);
    io.err(`In another terminal: CHANGEFEED_BASE_URL=${url} CHANGEFEED_TOKEN=${token} changefeed sweep`);
    if (controlApi !== null) io.err(`Control API: ${controlApi.url}  token ${controlApi.token}`);
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
    const message = portProblem(cause, port);
    throw message === undefined ? cause : new ChangefeedError('CF_USAGE', { cause, message });
  }
}

function portProblem(cause: unknown, port: number | undefined): string | undefined {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EADDRINUSE')
    return `--port: ${port} is in use by another program. Choose another port, or 0 for any free one.`;
  if (code === 'EACCES') return `--port: ${port} requires more privileges. Choose a port above 1023.`;
  if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
    return '--host: this machine does not have this address. Choose one of its own.';
  return undefined;
}
