/** The control API: changes a running sandbox over HTTP, on its own port and with its own token. For tests in another process. */
import Fastify, { type FastifyError, type FastifyInstance, type HTTPMethods } from 'fastify';
import { z } from 'zod';
import type { CrmRecord } from '../../src/crm/record.js';
import { ChangefeedError, messageOf } from '../../src/kit/errors.js';
import { isSameToken } from '../../src/kit/same-token.js';
import { FAULTS } from '../faults/faults.js';
import { PROFILES } from '../faults/profiles.js';
import { parseSwitches, type Behaviour } from '../faults/behaviour.js';
import type { Journal } from '../journal/journal.js';
import type { Life } from '../life/life.js';
import type { SandboxOptions } from '../options.js';
import type { World } from '../world/world.js';

/** The part of a sandbox that the control API uses. */
export interface Controls {
  readonly world: World;
  readonly life: Pick<Life, 'set'>;
  readonly journal: Journal;
  readonly behaviour: Behaviour;
  readonly profile: string;
  readonly faults: readonly string[];
  readonly requests: number;
  readonly token: string;
  rate: number;
  step(count: number): unknown;
  useProfile(name: string): void;
  behave(changes: Partial<Behaviour>): void;
  fault(name: string, to: 'on' | 'off'): void;
  reissueToken(token: string): void;
}

export type ControlServer = ReturnType<typeof createControlServer>;

const step = z.strictObject({ count: z.number().int().min(1).max(100_000).default(1) }).default({ count: 1 });
const rate = z.strictObject({ rate: z.number().min(0).max(100_000) });
const named = z.strictObject({ name: z.string() });
const token = z.strictObject({ token: z.string().min(1) });
const at = z.object({ list: z.string(), id: z.string() });
const edit = z.strictObject({
  values: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  by: z.string().optional(),
});

export function createControlServer(sandbox: Controls, options: NonNullable<SandboxOptions['control']>) {
  const { port = 0, host = '127.0.0.1', token: secret = 'control' } = options;
  const app = Fastify({ logger: false, forceCloseConnections: true });
  guard(app, secret);
  controls(app, sandbox);
  views(app, sandbox);
  return {
    start: async () => ({ url: await app.listen({ host, port }), token: secret }),
    stop: () => app.close(),
  };
}

function guard(app: FastifyInstance, secret: string): void {
  app.addHook('onRequest', async (request, reply) => {
    if (isSameToken(request.headers.authorization ?? '', `Bearer ${secret}`)) return;
    await reply.code(401).send({ error: 'The control API needs its own bearer token.' });
  });
  app.setErrorHandler(async (error: FastifyError, _request, reply) => {
    const isTheirs = error instanceof z.ZodError || (error instanceof ChangefeedError && error.code === 'CF_USAGE');
    const said = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    // A body that cannot be read has a status of its own.
    await reply.code(isTheirs ? 400 : (error.statusCode ?? 500)).send({ error: said });
  });
}

/** The requests that change something. Each answers with the state afterwards. */
function controls(app: FastifyInstance, sandbox: Controls): void {
  const acts: readonly [HTTPMethods, string, (body: unknown, params: unknown) => void][] = [
    ['POST', '/step', (body) => sandbox.step(step.parse(body).count)],
    ['PUT', '/rate', (body) => (sandbox.rate = rate.parse(body).rate)],
    ['PUT', '/profile', (body) => sandbox.useProfile(named.parse(body).name)],
    ['PATCH', '/behaviour', (body) => sandbox.behave(parseSwitches(body))],
    ['PUT', '/token', (body) => sandbox.reissueToken(token.parse(body).token)],
    ['PUT', '/faults/:name', (_body, params) => sandbox.fault(named.parse(params).name, 'on')],
    ['DELETE', '/faults/:name', (_body, params) => sandbox.fault(named.parse(params).name, 'off')],
  ];
  for (const [method, url, act] of acts) {
    const handler = ({ body, params }: { body: unknown; params: unknown }): unknown => {
      act(body ?? undefined, params);
      return stateOf(sandbox);
    };
    app.route({ method, url, handler });
  }
  app.post('/records/:list/:id', (request, reply) => {
    const { list, id } = at.parse(request.params);
    const { values, by } = edit.parse(request.body);
    const texts = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
    sandbox.life.set(list, id, texts, by);
    return reply.send(recordAt(sandbox.world, list, id));
  });
}

/** The requests that only read. */
function views(app: FastifyInstance, sandbox: Controls): void {
  app.get('/', () => stateOf(sandbox));
  app.get('/profiles', () => PROFILES);
  app.get('/faults', () => Object.entries(FAULTS).map(([name, { does, sound }]) => ({ name, does, sound })));
  app.get('/journal', (_request, reply) =>
    reply
      .header('x-lines-dropped', sandbox.journal.dropped)
      .type('application/x-ndjson')
      .send(
        sandbox.journal
          .lines()
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      ),
  );
  app.get('/records/:list/:id', async (request, reply) => {
    const { list: name, id } = at.parse(request.params);
    const { world } = sandbox;
    const record = recordAt(world, name, id);
    if (record !== null) return reply.send(record);
    const names = world.lists.map((each) => each.name).join(', ');
    return reply.code(404).send({ error: `There is no such record. Lists: ${names}.` });
  });
}

function recordAt(world: World, name: string, id: string): CrmRecord | null {
  const list = world.listNamed(name)?.name ?? null;
  const index = list === null ? null : world.indexOf(list, id);
  return list === null || index === null ? null : world.image(list, index);
}

function stateOf(sandbox: Controls): unknown {
  const { behaviour, faults, profile, rate: perSecond, requests, token: dataToken, world } = sandbox;
  const { counts, mutations } = world;
  return { profile, faults, behaviour, rate: perSecond, requests, mutations, records: counts, token: dataToken };
}
