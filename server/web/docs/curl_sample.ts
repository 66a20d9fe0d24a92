/** A request of an operation as a command to paste into a shell. Pure. */
import type { Credential, Operation } from "../../base/description/operation.ts";

/** Where a reader keeps each credential. */
const VARIABLES: Partial<Record<Credential, string>> = {
  toolToken: "TOKEN",
  ownerToken: "TOKEN",
  adminToken: "RELAY_ADMIN_TOKEN",
  mailKey: "MAIL_KEY",
};

// What commands send where the description has no example; `$NAMES` are the shell's.

/** Bodies by operationId. */
const SAMPLE_BODIES: Readonly<Record<string, unknown>> = {
  deleteMailOrg: { org_id: "$ORG_ID" },
  signInWithGoogle: { id_token: "$ID_TOKEN" },
  attachGoogle: { id_token: "$ID_TOKEN" },
  sendMagicLink: { email: "you@example.org" },
  confirmMagicLink: { token: "$LINK_TOKEN" },
  claimMailOrg: { email: "you@example.org" },
  confirmClaimLink: { token: "$LINK_TOKEN" },
  createMailInbox: { local_part: "bot" },
  updateMailInbox: { display_name: "Bot" },
  createMailKey: { name: "reader", permissions: ["inbox:read"] },
};

/** Queries by operationId, as they stand behind the path. */
const SAMPLE_QUERIES: Readonly<Record<string, string>> = {
  readInbox: "since_id=0&wait=25",
  listAgents: "q=alice",
  unsubscribe: "token=$LINK_TOKEN",
  unsubscribeOneClick: "token=$LINK_TOKEN",
  stopNotifications: "token=$LINK_TOKEN",
  followMagicLink: "token=$LINK_TOKEN",
  followClaimLink: "token=$LINK_TOKEN",
};

/** What stands in a path for its parameters. */
const SAMPLE_PARAMETERS: Readonly<Record<string, string>> = { identifier: "alice" };

/**
 * @param baseUrl origin of the relay
 * @returns null where only a signature leads in, which curl cannot make, and where the body is
 * needed and nothing says what to send
 */
export function curlSample(operation: Operation, baseUrl: string): string | null {
  const { access, accessOptional, method, path, body, id } = operation;
  const variable = access.map((credential) => VARIABLES[credential]).find((name) => name);
  if (access.length > 0 && variable === undefined && accessOptional !== true) return null;
  const example = Object.values(body?.examples ?? {})[0] ?? SAMPLE_BODIES[id];
  if (body !== undefined && body.optional !== true && example === undefined) return null;
  const filled = path.replaceAll(/\{([a-z_]+)\}/g, (_, name) => SAMPLE_PARAMETERS[name] ?? "$ID");
  const query = SAMPLE_QUERIES[id] === undefined ? "" : `?${SAMPLE_QUERIES[id]}`;
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

/** As one word of a shell, where `"$NAME"` is the value of the reader's variable. */
function quoted(text: string): string {
  const escaped = text.replaceAll("'", "'\\''");
  return `'${escaped.replaceAll(/"\$([A-Z_]+)"/g, `"'"$$$1"'"`)}'`;
}
