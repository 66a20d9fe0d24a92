/** JSON schemas of the description as rows of a table: one for each field, nested ones by their path. Pure. */

// deno-lint-ignore no-explicit-any -- a JSON document
type Json = any;

export interface SchemaRow {
  /** As in `messages[].id`. */
  name: string;
  type: string;
  isOptional: boolean;
  /** Markdown. */
  words: string;
}

/** Deeper fields are what others wrote, or another schema's. */
const MAX_DEPTH = 5;

/** @param document that the schema's references are of */
export function schemaRows(schema: Json, document: Json): SchemaRow[] {
  return rowsOf(schema, document, "", 0);
}

function rowsOf(given: Json, document: Json, prefix: string, depth: number): SchemaRow[] {
  const schema = resolve(given, document);
  if (depth > MAX_DEPTH) return [];
  if (schema.items !== undefined) return rowsOf(schema.items, document, `${prefix}[]`, depth + 1);
  const parts = schema.anyOf ?? schema.oneOf ?? schema.allOf;
  if (schema.properties === undefined && parts !== undefined) {
    const seen = new Set<string>();
    return parts.flatMap((part: Json) => rowsOf(part, document, prefix, depth))
      .filter(({ name }: SchemaRow) => !seen.has(name) && seen.add(name));
  }
  return Object.entries<Json>(schema.properties ?? {}).flatMap(([name, property]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const isOptional = !(schema.required ?? []).includes(name);
    const words = property.description ?? resolve(property, document).description ?? "";
    return [
      { name: path, type: typeOf(property, document), isOptional, words },
      ...rowsOf(property, document, path, depth + 1),
    ];
  });
}

/** What a value may be, in a few words. */
export function typeOf(given: Json, document: Json): string {
  const schema = resolve(given, document);
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum !== undefined) {
    return schema.enum.map((one: unknown) => `\`${JSON.stringify(one)}\``).join(" or ");
  }
  const parts = schema.anyOf ?? schema.oneOf;
  if (parts !== undefined && schema.type === undefined) {
    return [...new Set(parts.map((part: Json) => typeOf(part, document)))].join(" or ");
  }
  const types: string[] = Array.isArray(schema.type) ? schema.type : [schema.type ?? "any JSON"];
  return types.map((type) => `${nameOf(type, schema, document)}${boundsOf(type, schema)}`)
    .join(" or ");
}

function nameOf(type: string, schema: Json, document: Json): string {
  if (type === "array" && schema.items !== undefined) {
    return `array of ${typeOf(schema.items, document)}`;
  }
  return type === "string" && schema.format === "date-time" ? "time" : type;
}

function boundsOf(type: string, schema: Json): string {
  const [least, most, unit] = type === "string"
    ? [schema.minLength, schema.maxLength, " characters"]
    : type === "array"
    ? [schema.minItems, schema.maxItems, " items"]
    : ["integer", "number"].includes(type)
    ? [schema.minimum, schema.maximum === Number.MAX_SAFE_INTEGER ? undefined : schema.maximum, ""]
    : [];
  if (most !== undefined && least !== undefined) return `, ${least} to ${most}${unit}`;
  if (most !== undefined) return `, at most ${most}${unit}`;
  return least === undefined || least === 0 ? "" : `, from ${least}${unit}`;
}

function resolve(schema: Json, document: Json): Json {
  if (schema?.$ref === undefined) return schema ?? {};
  const [, ...path] = schema.$ref.split("/");
  return path.reduce((value: Json, part: string) => value[part], document);
}
