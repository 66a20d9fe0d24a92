/** The headers that answers carry. */
import type { ErrorCode } from "../errors.ts";
import type { AnswerHeader } from "./operation.ts";

interface HeaderObject {
  description: string;
  schema: { type: "string" | "integer"; [keyword: string]: unknown };
  required?: boolean;
  "x-addition"?: true;
}

/** Reusable header objects by their component names. */
export const HEADER_COMPONENTS: Readonly<Record<string, HeaderObject>> = {
  RequestId: {
    description: "Made by the relay for every answer; quote it to the operator.",
    required: true,
    schema: { type: "string", pattern: "^[0-9A-Za-z-]+$" },
  },
  RetryAfter: {
    description: "Whole seconds to wait, rounded up.",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
  RetryAfterIfKnown: {
    description: "Whole seconds to wait, where that is known.",
    schema: { type: "integer", minimum: 1 },
  },
  Allow: {
    description: "With 405: methods that the path takes.",
    schema: { type: "string", examples: ["GET, HEAD, OPTIONS"] },
  },
  IdempotentReplayed: {
    description: "Present on the stored answer to a repeated request: nothing was stored again.",
    schema: { type: "string", const: "true" },
    "x-addition": true,
  },
  CacheControl: {
    description: "How long the answer may be kept; `no-store` where it is for the caller alone.",
    required: true,
    schema: { type: "string" },
  },
  CacheControlOfPage: {
    description: "Where the refusal is a page: it is kept by nobody.",
    schema: { type: "string", const: "no-store" },
    "x-addition": true,
  },
  ETag: {
    description: "Names this very content, for If-None-Match.",
    required: true,
    schema: { type: "string", pattern: '^"[0-9a-f]+(-gzip)?"$' },
    "x-addition": true,
  },
  BearerChallenge: {
    description: "With 401: a bearer token is one way in (RFC 9110); a signature is the other.",
    required: true,
    schema: { type: "string", const: "Bearer" },
    "x-addition": true,
  },
  Vary: {
    description: "Request headers on which the answer depends.",
    required: true,
    schema: { type: "string" },
  },
};

const COMPONENT_OF: Readonly<Record<AnswerHeader, string>> = {
  "Idempotent-Replayed": "IdempotentReplayed",
  "Cache-Control": "CacheControl",
  ETag: "ETag",
  Vary: "Vary",
};

type HeaderRefs = Record<string, { $ref: string }>;

const ref = (name: string) => ({ $ref: `#/components/headers/${name}` });

const REQUEST_ID: HeaderRefs = { "X-Request-Id": ref("RequestId") };

/** Headers of a success. */
export function answerHeaders(names: readonly AnswerHeader[] = []): HeaderRefs {
  const further = names.map((name) => [name, ref(COMPONENT_OF[name])] as const);
  return { ...REQUEST_ID, ...Object.fromEntries(further) };
}

/**
 * Headers of a refusal.
 * @param mayBePage whether it is a page where Accept names text/html
 * @param codes that it may have; any unless given
 */
export function errorHeaders(
  status: number,
  mayBePage: boolean,
  codes: readonly ErrorCode[] = [],
): HeaderRefs {
  const mayBeOver = status === 503 || codes.includes("idempotency_in_progress");
  return {
    ...REQUEST_ID,
    ...(mayBePage ? { "Cache-Control": ref("CacheControlOfPage") } : {}),
    ...(status === 401 ? { "WWW-Authenticate": ref("BearerChallenge") } : {}),
    ...(status === 429 ? { "Retry-After": ref("RetryAfter") } : {}),
    ...(mayBeOver ? { "Retry-After": ref("RetryAfterIfKnown") } : {}),
  };
}
