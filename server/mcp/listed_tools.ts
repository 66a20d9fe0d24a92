/**
 * What tools/list answers, made once: converting schemas costs more than everything else of the
 * answer together, and the SDK would convert them for every request.
 */
import type { Tool as ListedTool } from "@modelcontextprotocol/server";
import * as z from "zod";
import type { Tool } from "./tool.ts";

/** The tools as clients are told of them, in the order given. */
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

function objectSchema(schema: z.ZodObject, io: "input" | "output"): ListedTool["inputSchema"] {
  return z.toJSONSchema(schema, { target: "draft-2020-12", io }) as ListedTool["inputSchema"];
}
