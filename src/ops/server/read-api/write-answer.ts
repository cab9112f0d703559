/** Sends an answer, whole or broken as its delivery says. Only this file uses the raw response. */
import { pipeline } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../../kit/clock.js';
import type { Answer } from './answer.js';

export async function writeAnswer(
  { body, delivered, delivery, headers, status }: Answer,
  reply: FastifyReply,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  // The framework is bypassed from here: it adds time to a whole answer and would repair a deliberately broken one.
  reply.hijack();
  const { raw } = reply;
  if (delivered !== undefined) raw.once('finish', delivered);
  const extra = delivery.how === 'padded' ? delivery.bytes : 0;
  raw.writeHead(status, { ...headers, 'content-length': body.length + extra });
  switch (delivery.how) {
    case 'whole':
      raw.end(body);
      return;
    case 'dropped':
      raw.write(body.subarray(0, delivery.afterBytes), () => raw.destroy());
      return;
    case 'stalled':
      raw.write(body.subarray(0, delivery.afterBytes));
      // The client may have closed the connection in the meantime: then there is nothing to write to.
      await clock.sleep(delivery.ms, signal).catch(() => undefined);
      if (signal.aborted) raw.destroy();
      else if (!raw.destroyed) raw.end(body.subarray(delivery.afterBytes));
      return;
    case 'padded':
      // Fails when the client closes the connection.
      await pipeline(padded(body, delivery.bytes), raw).catch(() => undefined);
  }
}

const CHUNK = Buffer.alloc(65_536, ' ');

function* padded(body: Buffer, bytes: number): Generator<Buffer> {
  yield body;
  for (let left = bytes; left > 0; left -= CHUNK.length) yield CHUNK.subarray(0, left);
}
