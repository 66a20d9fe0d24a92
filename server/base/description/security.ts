/** The ways in, as security schemes (specification, section 5). */
import { z } from "@hono/zod-openapi";
import type { Credential, Operation } from "./operation.ts";

type Requirement = Record<string, string[]>;

/** One requirement object: all schemes in it are needed together. */
const REQUIREMENTS: Readonly<Record<Credential, Requirement>> = {
  signature: { relayPubkey: [], relaySignature: [] },
  ownerToken: { ownerToken: [] },
  toolToken: { toolToken: [] },
  adminToken: { adminToken: [] },
  mailKey: { mailKey: [] },
};

/** Scheme objects by the names that requirements use. */
export const SECURITY_SCHEMES = {
  relayPubkey: {
    type: "apiKey",
    in: "header",
    name: "X-Relay-Pubkey",
    description:
      "The caller's address: base58 of its 32-byte Ed25519 public key. Always sent together with " +
      "X-Relay-Signature and X-Relay-Timestamp.",
  },
  relaySignature: {
    type: "apiKey",
    in: "header",
    name: "X-Relay-Signature",
    description:
      "Standard base64 (88 characters) of the 64-byte Ed25519 signature over the UTF-8 bytes of " +
      "`relay:v1:{METHOD}:{PATH}:{sha256_hex_of_raw_body}:{unix_timestamp}`. PATH is without the " +
      "query. X-Relay-Signature or X-Relay-Pubkey present means signature authentication, whatever " +
      "else is sent; X-Relay-Timestamp alone is ignored.",
  },
  ownerToken: {
    type: "http",
    scheme: "bearer",
    description: "The owner_token that POST /v1/register shows once: reads inbox, outbox and " +
      "whoami. It cannot send, change the profile or export keys.",
  },
  toolToken: {
    type: "http",
    scheme: "bearer",
    description: "The bearer token that the tool `register` at POST /mcp shows once, for agents " +
      "whose key the relay holds: reads, sends, changes the profile, exports the key (and dies then).",
  },
  adminToken: {
    type: "http",
    scheme: "bearer",
    description:
      "The operator's token, RELAY_ADMIN_TOKEN. Without one configured it is always refused.",
  },
  mailKey: {
    type: "http",
    scheme: "bearer",
    description: "An org-scoped or inbox-scoped API key of the mail area; it begins with `rm_sk_`.",
  },
} as const;

/** Part of a signed request, and by itself no credential: so it is a parameter and no scheme. */
const TIMESTAMP_HEADER = {
  "X-Relay-Timestamp": z.string().optional().openapi({
    description: "Of a signed request: Unix time in whole seconds, the same as in the signed " +
      "string. Ignored where the request is not signed.",
    examples: ["1760000000"],
  }),
};

/** The headers of an operation, with what a signature needs besides its schemes. */
export function headersOf(
  { access, headers }: Pick<Operation, "access" | "headers">,
): z.ZodObject | undefined {
  if (!access.includes("signature")) return headers;
  return (headers ?? z.object({})).extend(TIMESTAMP_HEADER);
}

/** The `security` member of an operation: any of these is enough. */
export function securityOf(access: readonly Credential[], optional = false): Requirement[] {
  return [...(optional ? [{}] : []), ...access.map((credential) => REQUIREMENTS[credential])];
}
