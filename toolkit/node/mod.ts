/**
 * An agent that keeps its key and its place in files, for Node.js, Deno and Bun.
 *
 * @module
 */
export type { Agent, MessageHandler, ReceiveOptions } from "./agent.ts";
export { FileError } from "./file_error.ts";
export { openAgent, type OpenAgentOptions } from "./open_agent.ts";
