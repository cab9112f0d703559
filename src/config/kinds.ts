/** Kinds of handlers by others, that a configuration in data names by their modules. */
import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';
import { z } from 'zod';
import { isKind, type Kind } from '../delivery/handlers/kind.js';
import { isTaken } from '../delivery/handlers/registry.js';
import { messageOf } from '../kit/errors.js';
import type { ConfigProblem } from '../kit/schema/problem.js';
import { evaluate } from './evaluate.js';

const A_KIND =
  "the path of a module, such as './kafka-kind.js', or the name of a package; in code also what defineKind returns";

export const kinds = z
  .array(z.union([z.string(), z.custom<Kind>(isKind)], { error: A_KIND }), { error: `an array, each ${A_KIND}` })
  .readonly();

interface LoadedKinds {
  /** The configuration with kinds in place of their modules. */
  raw: unknown;
  files: readonly string[];
  problems: readonly ConfigProblem[];
}

/** @param from the configuration file: paths begin at its folder */
export async function loadKinds(raw: unknown, from: string, library: () => Promise<object>): Promise<LoadedKinds> {
  const given: unknown = Object(raw) === raw ? (raw as Record<string, unknown>)['kinds'] : undefined;
  if (!Array.isArray(given) || !given.some((one) => typeof one === 'string')) return { raw, files: [], problems: [] };
  const loaded: unknown[] = [];
  const files: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const [index, one] of given.entries()) {
    const read = typeof one === 'string' ? await loadModule(one, from, await library()) : { kinds: [one], files: [] };
    if (typeof read === 'string') problems.push({ path: ['kinds', index], problem: read });
    else {
      loaded.push(...read.kinds);
      files.push(...read.files);
    }
  }
  return { raw: { ...(raw as object), kinds: loaded }, files, problems };
}

/** @returns what is wrong, where it is none that can be used */
async function loadModule(
  name: string,
  from: string,
  library: object,
): Promise<{ kinds: Kind[]; files: readonly string[] } | string> {
  const found = `found ${JSON.stringify(name)}`;
  const url = createJiti(from).esmResolve(name, { try: true });
  if (url?.startsWith('file:') !== true) return `${found}, and there is no such module; allowed: ${A_KIND}`;
  try {
    const { module, files } = await evaluate(fileURLToPath(url), library);
    const exported = [...new Set([module, ...Object.values(Object(module) as Record<string, unknown>)])].filter(isKind);
    if (exported.length === 0)
      return `${found}, which exports no kind; allowed: a module that exports what defineKind returns`;
    return { kinds: exported, files };
  } catch (error) {
    const [reason = ''] = messageOf(error).split('\n');
    return `${found}, and running it failed: ${reason.replace(/\.$/, '')}`;
  }
}

/** A name that means two kinds would mean the one that was not meant. Loading a file has replaced modules by their kinds. */
export function kindProblems(given: readonly (string | Kind)[]): ConfigProblem[] {
  return given.flatMap((one, index) => {
    const path = ['kinds', index];
    if (typeof one === 'string') {
      const problem = `found ${JSON.stringify(one)}; allowed without a configuration file: what defineKind returns`;
      return [{ path, problem }];
    }
    const isRepeated = given.some(
      (other, at) => at < index && typeof other !== 'string' && other.handler === one.handler,
    );
    if (!isRepeated && !isTaken(one.handler)) return [];
    const whose = isRepeated ? 'of another one of them' : 'of a built-in handler';
    return [{ path, problem: `found a kind "${one.handler}", which is the name ${whose}; allowed: each name once` }];
  });
}
