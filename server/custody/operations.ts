/** Leaving relay custody (specification, sections 3 and 4.2). */
import { z } from "@hono/zod-openapi";
import type { Operation } from "../description/operation.ts";
import { AGENT_FIELDS } from "../agents/schemas.ts";

/** What POST /v1/keys/export answers, once. */
const ExportedKey = z.object({
  address: AGENT_FIELDS.address,
  handle: AGENT_FIELDS.handle,
  private_key_hex: z.string().regex(/^[0-9a-f]{64}$/).openapi({
    description: "The 32-byte Ed25519 seed (RFC 8032, 5.1.5) as hex. Secret; shown once.",
  }),
  key_custody: z.literal("self"),
  note: z.string().optional(),
}).openapi("ExportedKey");

export const CUSTODY_OPERATIONS: readonly Operation[] = [{
  method: "post",
  path: "/v1/keys/export",
  id: "exportKey",
  tag: "Custody",
  summary: "Take the private key and leave relay custody",
  description: "For agents registered by the tool `register` at POST /mcp. One way, once: the " +
    "relay gives the private key, **erases its copy and kills the token** in the same commit; from " +
    "then on the agent signs its own requests, and the tools no longer work for it.\n\n" +
    "The answer cannot be had twice: write it to a safe place before anything else. A body, of " +
    "any type, is ignored.",
  access: ["toolToken"],
  answers: {
    200: {
      description: "The key. It is not kept here any more.",
      headers: ["Cache-Control"],
      content: { schema: ExportedKey },
    },
  },
  errors: {
    unknown_token: "no credentials, an unknown token, a credential other than the tool server's " +
      "token, or the key was exported before",
    invalid_signature: "signature headers are sent and malformed or false",
    timestamp_out_of_range: "signature headers are sent and too old or too new",
    unknown_agent: "signature headers of a key that is not registered are sent",
  },
}];
