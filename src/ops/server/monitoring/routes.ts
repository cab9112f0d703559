/** Health, readiness and metrics. Probes have no token, so the first two are public and name nothing. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { mayUse } from '../http/access.js';

export interface HealthAnswer {
  /** False: restart the process (`/healthz`), or it cannot work now (`/readyz`). */
  ok: boolean;
  /** Why not; empty when it is well. */
  reasons: readonly string[];
}

/** `hidden`: for those who may not read the status. */
export interface Naming {
  names: 'shown' | 'hidden';
}

export interface Monitored {
  health: (naming: Naming) => HealthAnswer;
  readiness: (naming: Naming) => Promise<HealthAnswer & { problems: readonly string[] }>;
  metrics: (asked?: { byWorkspace?: boolean }) => Promise<{ contentType: string; text: string }>;
}

export function monitoringRoutes({ health, readiness, metrics }: Monitored) {
  return (app: FastifyInstance): void => {
    app.addHook('onRequest', (_request, reply, done) => {
      void reply.header('cache-control', 'no-store');
      done();
    });
    app.get('/healthz', { config: { access: 'public' } }, (request, reply) => {
      const { ok, reasons } = health(namingFor(request));
      return reply.code(ok ? 200 : 503).send({ status: ok ? 'ok' : 'failing', reasons });
    });
    app.get('/readyz', { config: { access: 'public' } }, async (request, reply) => {
      const { ok, reasons, problems } = await readiness(namingFor(request));
      return await reply.code(ok ? 200 : 503).send({ status: ok ? 'ready' : 'not ready', reasons, problems });
    });
    app.get('/metrics', { config: { access: 'read' } }, async (request, reply) => {
      const { by } = request.query as { by?: unknown };
      const { contentType, text } = await metrics({ byWorkspace: by === 'workspace' });
      return await reply.type(contentType).send(text);
    });
  };
}

function namingFor({ caller }: FastifyRequest): Naming {
  return { names: mayUse('read', caller) ? 'shown' : 'hidden' };
}
