/** bull-board, which shows the queues job by job: for operators, at `/queues`, where its packages are installed. */
import type * as BoardApi from '@bull-board/api';
import type * as BoardAdapter from '@bull-board/api/bullMQAdapter';
import type * as BoardServer from '@bull-board/fastify';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';
import { importOptionalPackage } from '../../../kit/optional-package.js';

export type BoardQueues = () => Iterable<Queue>;

/** bull-board has inline styles. Its fonts would be asked of another server: those of the system are used. */
const BOARD_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src 'self' data:; connect-src 'self'; base-uri 'self'; frame-ancestors 'none'";

/** The packages are not installed with this one: only some want them. */
export async function queueRoutes(
  app: FastifyInstance,
  queues: BoardQueues,
  mountedAt: string,
): Promise<'mounted' | 'not installed'> {
  const board = await loadBoard();
  if (board === null) return 'not installed';
  const { createBullBoard, BullMQAdapter, FastifyAdapter } = board;
  const server = new FastifyAdapter();
  server.setBasePath(`${mountedAt}/queues`);
  const adapters = [...queues()].map((queue) => new BullMQAdapter(queue, { readOnlyMode: true }));
  createBullBoard({ queues: adapters, serverAdapter: server });
  await app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'operate' };
    });
    scope.addHook('onRequest', (_request, reply, done) => {
      void reply.header('content-security-policy', BOARD_POLICY);
      done();
    });
    await scope.register(server.registerPlugin(), { prefix: '/queues' });
  });
  return 'mounted';
}

async function loadBoard() {
  try {
    const [{ createBullBoard }, { BullMQAdapter }, { FastifyAdapter }] = await Promise.all([
      importOptionalPackage<typeof BoardApi>('@bull-board/api'),
      importOptionalPackage<typeof BoardAdapter>('@bull-board/api/bullMQAdapter'),
      importOptionalPackage<typeof BoardServer>('@bull-board/fastify'),
    ]);
    return { createBullBoard, BullMQAdapter, FastifyAdapter };
  } catch {
    return null;
  }
}
