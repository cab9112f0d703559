/** Arguments and options that a command takes from the definition of its action, with their descriptions. */
import { z } from 'zod';
import { namesInPath, type Action } from '../actions/define.js';
import { listArgument, separated, wholeNumber, word, workspaceOption } from './arguments.js';
import { argument, asText, flag, option, type Parameter } from './command.js';

type Value<Field> = Field extends z.ZodType ? z.output<Field> : never;

/** The field as a term of the command line: those in the path are arguments. */
export function termOf<Shape extends z.ZodRawShape, Name extends keyof Shape & string>(
  { route, input }: { route: Action['route']; input: z.ZodObject<Shape> },
  name: Name,
): Parameter<Value<Shape[Name]> | (undefined extends z.input<Shape[Name]> ? undefined : never)> {
  const schema = input.shape[name] as unknown as z.ZodType;
  return termFor(schema, { name, inPath: namesInPath({ route }).includes(name) }) as never;
}

function termFor(schema: z.ZodType, { name, inPath }: { name: string; inPath: boolean }): Parameter<unknown> {
  const { description = '' } = schema;
  const field = withoutDefault(schema);
  if (name === 'workspace') return workspaceOption(description);
  if (inPath) return name === 'list' ? listArgument(description) : argument(description, asText);
  if (field instanceof z.ZodBoolean) return flag(description);
  if (field instanceof z.ZodArray) return option('list', description, separated);
  if (field instanceof z.ZodNumber) {
    const { minValue, maxValue } = field;
    return option('number', description, wholeNumber({ least: minValue ?? 0, most: maxValue ?? 999_999_999 }));
  }
  if (field instanceof z.ZodEnum) return option(name, description, word(...(field.options as string[])));
  return option('text', description, asText);
}

function withoutDefault(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)
    return withoutDefault(schema.unwrap() as z.ZodType);
  return schema;
}
