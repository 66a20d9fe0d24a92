/**
 * The answer to tools/list, made once. Converting schemas costs more than everything else of the
 * answer together, and the SDK would convert them for every request.
 */
import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Tool } from "./tool.ts";

/** The tools as clients see them, in the order given. */
export function listTools<Call>(tools: readonly Tool<Call>[]): ListedTool[] {
  return tools.map(({ name, title, description, hints, input, output }) => ({
    name,
    title,
    description,
    inputSchema: objectSchema(input, "input"),
    outputSchema: objectSchema(output, "output"),
    annotations: { title, ...hints },
  }));
}

/**
 * Removes what makes a list long and tells a model nothing. That is $schema (one client warns of
 * it), the bounds of any integer, and strictness inside a list of an answer.
 */
function objectSchema(schema: z.ZodObject, io: "input" | "output"): ListedTool["inputSchema"] {
  const { $schema: _, ...listed } = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    io,
    override({ jsonSchema, path }) {
      if (path.length > 0) {
        delete jsonSchema.additionalProperties;
        delete jsonSchema.required;
      }
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return listed as ListedTool["inputSchema"];
}
