/** What the protocol's SDK knows of requests: methods, and every member below their params. */
import { specTypeSchemas } from "@modelcontextprotocol/server";

/** A member, as the names that lead to it from the message; "0" is the first item of an array. */
export type MemberPath = readonly string[];

export interface SpecMethod {
  method: string;
  /** Whether it is sent with an id. */
  isRequest: boolean;
  members: MemberPath[];
}

// deno-lint-ignore no-explicit-any -- zod's own description of its schemas
type Schema = any;

/** Levels below params that are walked. */
const DEEPEST = 5;

/** Every request and notification that the SDK has a schema for. */
export function specMethods(): SpecMethod[] {
  const found: SpecMethod[] = [];
  for (const [name, schema] of Object.entries<Schema>(specTypeSchemas)) {
    const { shape } = schema._zod.def;
    const method = shape?.method?._zod.def.values?.[0];
    if (typeof method !== "string") continue;
    const members = new Map<string, MemberPath>();
    collect(shape.params, ["params"], members);
    found.push({ method, isRequest: name.endsWith("Request"), members: [...members.values()] });
  }
  return found;
}

function collect(schema: Schema, path: MemberPath, found: Map<string, MemberPath>): void {
  if (schema === undefined || path.length > DEEPEST) return;
  const { type, innerType, shape, element, options, valueType, left, right, getter } =
    schema._zod.def;
  found.set(path.join("/"), path);
  if (innerType !== undefined) return collect(innerType, path, found);
  if (type === "lazy") return collect(getter(), path, found);
  if (type === "pipe") return collect(schema._zod.def.in, path, found);
  for (const one of [...(options ?? []), left, right]) {
    if (one !== undefined) collect(one, path, found);
  }
  for (const [name, member] of Object.entries(shape ?? {})) collect(member, [...path, name], found);
  if (type === "array") collect(element, [...path, "0"], found);
  if (type === "record") collect(valueType, [...path, "any"], found);
}
