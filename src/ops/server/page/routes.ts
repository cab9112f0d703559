/** The status page as a set of routes: the built page, its API, and the stream of events. */
import type { Routes } from '../http/server.js';
import { runLoop } from '../../../kit/loop.js';
import type { Clock } from '../../../kit/clock.js';
import type { Log } from '../../../kit/log.js';
import { assetRoutes } from './assets.js';
import { apiOf, beginApi, type Api, type Frame } from './api.js';
import { SAMPLE_MS } from './history.js';
import { createLiveEvents } from './live-events.js';
import { createParts } from './parts.js';
import { queueRoutes, type BoardQueues } from './queues.js';
import type { EndpointDeps, PageSource } from './source.js';
import { addStream } from './stream.js';

export interface PageDeps {
  source: PageSource;
  /** Adds what can be asked and done. */
  addActions: (app: Api, deps: EndpointDeps, frame: Frame) => void;
  queues: BoardQueues;
  /** Under which path of another server; empty where it has its own. */
  mountedAt: string;
  version: string;
  /** Resolves when Redis can be used, or when the signal aborts. */
  ready: (signal: AbortSignal) => Promise<void>;
  clock: Clock;
  log: Log;
}

export function pageRoutes({ source, addActions, queues, mountedAt, version, ready, clock, log }: PageDeps): Routes {
  return async (app) => {
    const parts = createParts(source, version, clock);
    const { history, views, status } = parts;
    const live = createLiveEvents(source, log);
    const stopping = new AbortController();
    const sampling = {
      name: 'status page',
      run: async () => {
        history.add(await status());
        return SAMPLE_MS;
      },
      ready,
      signal: stopping.signal,
      log,
      clock,
    };
    let sampled: Promise<void> | undefined;
    app.addHook('onReady', (done) => {
      sampled = runLoop(sampling);
      done();
    });
    app.addHook('preClose', async () => {
      stopping.abort();
      await Promise.all([sampled, live.close()]);
    });
    assetRoutes(app);
    const board = await queueRoutes(app, queues, mountedAt);
    const frame = await beginApi(app, version, () => source.redisIsAway());
    addActions(apiOf(app), { ...parts, queues: board }, frame);
    addStream(apiOf(app), { source, views, live, clock });
  };
}
