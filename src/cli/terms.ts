/** Arguments and options that a command takes from the definition of its action, with their descriptions. */
import { z } from 'zod';
import type { Action } from '../actions/define.js';
import {
  asConditions,
  listArgument,
  listsOrAll,
  recordOption,
  separated,
  typeOption,
  wholeNumber,
  word,
  workspaceOption,
} from './arguments.js';
import { argument, asText, flag, option, restArguments, type Parameter } from './command.js';

type Value<Field> = Field extends z.ZodType ? z.output<Field> : never;
type Terms = Record<string, Parameter<unknown>>;

/** The field as a term of the command line: what has to be given is an argument. */
export function termOf<Shape extends z.ZodRawShape, Name extends keyof Shape & string>(
  { input }: { input: z.ZodObject<Shape> },
  name: Name,
): Parameter<Value<Shape[Name]> | (undefined extends z.input<Shape[Name]> ? undefined : never)> {
  return termFor(input.shape[name] as unknown as z.ZodType, name) as never;
}

/** Every field, under the name that the command line has for it. */
export function termsOf({ input }: Pick<Action, 'input'>): Terms {
  const { list, record, ...others } = input.shape as Record<string, z.ZodType>;
  // An id says nothing without its list.
  const both = list !== undefined && record !== undefined;
  const fields = both ? others : input.shape;
  return {
    ...Object.fromEntries(
      Object.entries<z.ZodType>(fields).map(([name, field]) => [optionOf(name), termFor(field, name)]),
    ),
    ...(both && { record: recordOption(record.description ?? '') }),
  };
}

/** Several are given in one option: `--type a,b`. */
export const optionOf = (name: string): string => (name === 'types' ? 'type' : name);

export const isRequired = (field: z.ZodType): boolean => !field.safeParse(undefined).success;

function termFor(schema: z.ZodType, name: string): Parameter<unknown> {
  const { description = '' } = schema;
  const field = withoutDefault(schema);
  if (name === 'workspace')
    return workspaceOption(isRequired(schema) ? 'the workspace, if there are several' : description);
  if (name === 'types') return typeOption(description);
  if (name === 'ids') return restArguments(description, asText);
  if (name === 'lists') return listsOrAll(description);
  if (name === 'list') return listArgument(description);
  if (isRequired(schema)) return argument(description, asText);
  if (field instanceof z.ZodBoolean || field instanceof z.ZodLiteral) return flag(description);
  if (field instanceof z.ZodArray) return option('list', description, separated);
  if (field instanceof z.ZodObject) return option('json', description, asConditions);
  if (field instanceof z.ZodNumber) {
    const { minValue, maxValue } = field;
    return option('number', description, wholeNumber({ least: minValue ?? 0, most: maxValue ?? 999_999_999 }));
  }
  if (field instanceof z.ZodEnum) return option(name, description, word(...(field.options as string[])));
  return option(name === 'subscription' ? 'name' : 'text', description, asText);
}

function withoutDefault(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return withoutDefault(schema.unwrap() as z.ZodType);
  return schema;
}
