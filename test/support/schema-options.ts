/** All options of a schema, with what may be shown of them. */
import type { z } from 'zod';
import { holdsSecret, layers, markOf, type Visibility } from '../../src/kit/schema/secret.js';

export interface SchemaOption {
  name: string;
  /** 0 for any index, `any` for any key. */
  path: readonly PropertyKey[];
  visibility: Visibility;
  /** It is an object with a secret in it. */
  holds: boolean;
}

export function optionsIn(schema: z.core.$ZodType, path: readonly PropertyKey[] = []): SchemaOption[] {
  return layers(schema).flatMap((layer) => {
    const { def } = (layer as z.core.$ZodTypes)._zod;
    if (def.type === 'array') return optionsIn(def.element, [...path, 0]);
    if (def.type === 'record') return optionsIn(def.valueType, [...path, 'any']);
    if (def.type !== 'object') return [];
    return Object.entries(def.shape).flatMap(([name, option]) => {
      const own = layers(option);
      const found = { name, path: [...path, name], visibility: markOf(own), holds: own.some(holdsSecret) };
      return [found, ...(found.visibility === 'hidden' ? [] : optionsIn(option, found.path))];
    });
  });
}
