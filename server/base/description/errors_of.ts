/** The refusals of an operation, grouped by status. */
import { ERROR_STATUS, type ErrorCode } from "../errors.ts";
import { ERROR_CAUSES } from "./error_causes.ts";
import type { Operation } from "./operation.ts";

export interface Refusals {
  status: number;
  /** Codes with what causes them on this route. */
  causes: Partial<Record<ErrorCode, string>>;
  /** True where Accept chooses between JSON and a page. */
  page?: boolean;
}

/** What a route may always answer: the relay fails, or is about to stop. */
const ALWAYS: readonly ErrorCode[] = ["internal", "unavailable"];
/** What reading a request body may end in. */
const BY_BODY: readonly ErrorCode[] = ["invalid_json", "request_timeout", "payload_too_large"];
const BY_SIGNATURE: readonly ErrorCode[] = [
  "invalid_signature",
  "timestamp_out_of_range",
  "unknown_agent",
];

/** All codes that an operation can answer, by ascending status. */
export function errorsOf(operation: Operation): Refusals[] {
  const byStatus = new Map<number, Refusals>();
  for (const code of codesOf(operation)) {
    const status = ERROR_STATUS[code];
    const refusals = byStatus.get(status) ??
      { status, causes: {}, ...(operation.page === true ? { page: true } : {}) };
    refusals.causes[code] = operation.errors?.[code] ?? ERROR_CAUSES[code].cause;
    byStatus.set(status, refusals);
  }
  return [...byStatus.values()].sort((a, b) => a.status - b.status);
}

function codesOf(operation: Operation): Set<ErrorCode> {
  const { access, accessOptional, body, method, query, errors = {} } = operation;
  const codes = new Set<ErrorCode>(Object.keys(errors) as ErrorCode[]);
  if (errors.mail_disabled !== undefined && Object.keys(operation.answers).length === 0) {
    // Refused before anything of the request is looked at.
    return new Set([...codes, ...ALWAYS]);
  }
  const add = (further: readonly ErrorCode[]) => further.forEach((code) => codes.add(code));
  add(ALWAYS);
  if (body !== undefined || method !== "get") add(BY_BODY);
  if (query !== undefined && Object.keys(query.shape).length > 0) add(["invalid_json"]);
  if (access.includes("signature")) add(BY_SIGNATURE);
  if (access.length > 0 && !accessOptional) add(["unknown_token"]);
  for (const code of operation.never ?? []) codes.delete(code);
  return codes;
}
