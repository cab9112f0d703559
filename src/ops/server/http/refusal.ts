/** The body of every refusal. */
import type { FastifyReply } from 'fastify';

export interface Refusal {
  status: number;
  message: string;
}

export const TOO_MANY: Refusal = { status: 429, message: 'Too many wrong tokens. Wait a minute.' };

export function refuse(reply: FastifyReply, { status, message }: Refusal): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').send({ error: { status, message } });
}
