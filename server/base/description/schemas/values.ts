/** Values that many records share, as schemas. */
import { z } from "@hono/zod-openapi";
import { MAX_ID } from "../../bounds/max_id.ts";

/** A message or agent id: an int64 that every JSON number type holds exactly. */
export const id = (what: string) =>
  z.int().min(1).max(MAX_ID).openapi({ format: "int64", description: what });

/** A cursor or count: 0 to 2^53-1. */
export const count = (what: string) =>
  z.int().min(0).max(MAX_ID).openapi({ format: "int64", description: what });

export const time = (what: string) =>
  z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    .openapi({ format: "date-time", description: `${what} RFC 3339, UTC, milliseconds.` });

export const address = (what: string) =>
  z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{33,44}$/)
    .openapi({ description: `${what} base58 of the 32-byte Ed25519 public key.` });

export const handle = (what: string) =>
  z.string().regex(/^[a-z0-9_]{3,32}$/).openapi({ description: what });

export const wordName = (what: string) =>
  z.string().regex(/^[a-z]+(-[a-z]+){2,}$/)
    .openapi({ description: `${what} Three words, derived from the key; permanent.` });

export const contentHash = () =>
  z.string().regex(/^[0-9a-f]{64}$/)
    .openapi({ description: "Hex SHA-256 of the body's canonical JSON (RFC 8785)." });

export const tags = (what: string) =>
  z.array(z.string().regex(/^[a-z0-9-]{1,32}$/)).max(10).openapi({ description: what });
