/** Sends an answer, whole or broken as its delivery says. Only this file uses the raw response. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../runtime/clock.js';
import type { Answer } from './answer.js';

export async function writeAnswer(
  answer: Answer,
  reply: FastifyReply,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const { body, delivered, delivery, headers, status } = answer;
  // The framework is bypassed from here: it adds time to a whole answer and would repair a deliberately broken one.
  reply.hijack();
  const { raw } = reply;
  if (delivered !== undefined) raw.once('finish', delivered);
  if (delivery.how === 'whole') raw.writeHead(status, { ...headers, 'content-length': body.length }).end(body);
  else await writeBroken(answer, raw, clock, signal);
}

async function writeBroken(answer: Answer, raw: ServerResponse, clock: Clock, signal: AbortSignal): Promise<void> {
  const { body, delivery, headers, status } = answer;
  const extra = delivery.how === 'padded' ? delivery.bytes : 0;
  raw.writeHead(status, { ...headers, 'content-length': body.length + extra });
  switch (delivery.how) {
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
      raw.write(body);
      await writeSpaces(raw, delivery.bytes);
      return;
    case 'whole':
      raw.end(body);
  }
}

const CHUNK = Buffer.alloc(65_536, ' ');

async function writeSpaces(raw: ServerResponse, bytes: number): Promise<void> {
  for (let left = bytes; left > 0 && !raw.destroyed; left -= CHUNK.length) {
    if (!raw.write(left < CHUNK.length ? CHUNK.subarray(0, left) : CHUNK)) await drained(raw);
  }
  if (!raw.destroyed) raw.end();
}

function drained(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (raw.destroyed) {
      resolve();
      return;
    }
    const done = (): void => {
      raw.off('drain', done).off('close', done);
      resolve();
    };
    raw.once('drain', done).once('close', done);
  });
}
