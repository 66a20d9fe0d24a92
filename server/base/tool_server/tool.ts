/** A tool as a tool server offers it: what clients see of it, and what it does. */
import type * as z from "zod";
import type { ToolArguments } from "./tool_arguments.ts";

/** Hints for clients that ask people before they act; all set, since the defaults are alarming. */
export interface ToolHints {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  /** Whether what it touches is written by strangers. */
  openWorldHint: boolean;
}

/** What a tool answers: the same content for programs and, in prose, for models. */
export interface ToolAnswer<Structured> {
  structured: Structured;
  text: string;
}

/**
 * @typeParam Call what a tool gets of the request in addition to its arguments
 * @typeParam Output schema of the structured answer
 */
export interface Tool<Call, Output extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  /** What it does, when to use it, its limits and what comes back. */
  description: string;
  hints: ToolHints;
  /** Advertised only: arguments are checked by run(), so that the relay's own codes and words come back. */
  input: z.ZodObject;
  output: Output;
  /** @throws RelayError */
  run(given: ToolArguments, call: Call): Promise<ToolAnswer<z.infer<Output>>>;
}

/** A tool with the types of its answer checked against its schema. */
export function defineTool<Call, Output extends z.ZodObject>(
  tool: Tool<Call, Output>,
): Tool<Call> {
  return tool as unknown as Tool<Call>;
}
