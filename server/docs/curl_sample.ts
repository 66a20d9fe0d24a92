/** A request of an operation as a command to paste into a shell. Pure. */
import type { Credential, Operation } from "../description/operation.ts";

/** Where a reader keeps each credential. */
const VARIABLES: Partial<Record<Credential, string>> = {
  toolToken: "TOKEN",
  ownerToken: "TOKEN",
  adminToken: "RELAY_ADMIN_TOKEN",
  mailKey: "MAIL_KEY",
};

/** What stands in a path for its parameters. */
const PARAMETERS: Readonly<Record<string, string>> = { identifier: "alice", id: "$ID" };

/** Queries that show what a route is for. */
const QUERIES: Readonly<Record<string, string>> = {
  readInbox: "since_id=0&wait=25",
  listAgents: "q=alice",
};

/**
 * @param baseUrl origin of the relay
 * @returns null where only a signature leads in, which curl cannot make
 */
export function curlSample(operation: Operation, baseUrl: string): string | null {
  const { access, accessOptional, method, path, body, id } = operation;
  const variable = access.map((credential) => VARIABLES[credential]).find((name) => name);
  if (access.length > 0 && variable === undefined && accessOptional !== true) return null;
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_, name) => PARAMETERS[name] ?? "$ID");
  const query = QUERIES[id] === undefined ? "" : `?${QUERIES[id]}`;
  const example = Object.values(body?.examples ?? {})[0];
  const isPlain = method === "get" || (method === "post" && example !== undefined);
  const parts = [
    `curl -sS ${isPlain ? "" : `-X ${method.toUpperCase()} `}"${baseUrl}${filled}${query}"`,
    ...(variable === undefined ? [] : [`-H "Authorization: Bearer $${variable}"`]),
    ...(example === undefined ? [] : ['-H "Content-Type: application/json"']),
    ...(path.startsWith("/mcp") ? ['-H "Accept: application/json, text/event-stream"'] : []),
    ...(example === undefined ? [] : [`-d ${quoted(JSON.stringify(example))}`]),
  ];
  return parts.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
