/** One route as the API description tells it; declaration.ts makes them, document.ts puts them together. */
import type { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../errors.ts";
import type { Limits } from "../config/limits.ts";

/** What descriptions depend on: where the relay is, and the limits in force there. */
export interface Setting {
  baseUrl: string;
  limits: Limits;
  /** Whether the mail area is on. */
  mailOn: boolean;
}

/** Groups of routes, in reading order. */
export type Tag =
  | "Identity"
  | "Messages"
  | "Directory"
  | "Custody"
  | "Notifications"
  | "Network"
  | "Tool server"
  | "Service"
  | "Operator"
  | "Mail";

/** A way to prove who is calling; see security.ts. */
export type Credential = "signature" | "ownerToken" | "toolToken" | "adminToken" | "mailKey";

/** Headers that an answer always or sometimes carries; see answer_headers.ts. */
export type AnswerHeader = "Idempotent-Replayed" | "Cache-Control" | "ETag" | "Vary";

export interface Content {
  /** "application/json" when absent. */
  type?: string;
  schema: z.ZodType | { $ref: string };
  /** Example values by what they show. */
  examples?: Readonly<Record<string, unknown>>;
}

export interface Answer {
  description: string;
  /** Absent: the answer has no body that the contract fixes. */
  content?: Content | readonly Content[];
  headers?: readonly AnswerHeader[];
}

export interface Operation {
  method: "get" | "post" | "patch" | "delete";
  path: string;
  /** A name that is unique in the description; generated clients call their functions so. */
  id: string;
  tag: Tag;
  summary: string;
  /** Markdown that teaches: what, when, limits, what comes back, what to do on errors. */
  description: string;
  /** True where the route is not in the specification. */
  addition?: boolean;
  /** True where people meet the route in a browser: refusals are pages where Accept names text/html. */
  page?: boolean;
  /** Ways in, any of them; empty: public. */
  access: readonly Credential[];
  /** True where the request may also come without credentials. */
  accessOptional?: boolean;
  params?: z.ZodObject;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  /** Absent: the route takes no body. */
  body?: Content & { description: string; optional?: boolean };
  /** Successes by status. */
  answers: Readonly<Record<number, Answer>>;
  /**
   * Codes with what causes them here; null where the general cause says it all. Codes that follow
   * from the rest (credentials, a body, the service itself) are added by errors_of.ts.
   */
  errors?: Partial<Record<ErrorCode, string | null>>;
  /** Codes that would follow but cannot be answered here. */
  never?: readonly ErrorCode[];
}
