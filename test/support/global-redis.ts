/** The Redis of a test run: TEST_REDIS_URL, else a server started for the run, else a container. */
import type { TestProject } from 'vitest/node';
import { launchRedis, redisBinary } from './private-redis.js';

declare module 'vitest' {
  export interface ProvidedContext {
    redisUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, close } = await obtainRedis();
  project.provide('redisUrl', url);
  return close;
}

async function obtainRedis(): Promise<{ url: string; close: () => Promise<void> }> {
  const named = process.env['TEST_REDIS_URL'];
  if (named !== undefined && named !== '') return { url: named, close: () => Promise.resolve() };
  if (redisBinary !== undefined) {
    // Tests about data on disk start their own server.
    const server = await launchRedis({ settings: ['appendonly no'] });
    return { url: server.url, close: () => server.close() };
  }
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer('redis:7-alpine').withExposedPorts(6379).start();
  return {
    url: `redis://${container.getHost()}:${container.getMappedPort(6379)}/0`,
    close: async () => {
      await container.stop();
    },
  };
}
