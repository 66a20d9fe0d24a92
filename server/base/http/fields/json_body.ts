/** JSON request bodies, parsed so strictly that every language reads them alike. */
import { JsonError } from "../../../../toolkit/json_error.ts";
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { parseStrict } from "../../../../toolkit/parse_strict.ts";
import { invalidJson } from "../../errors.ts";

/** The JSON object of a request body. @throws RelayError `invalid_json` */
export function readObject(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) throw invalidJson("the request needs a body: a JSON object");
  const request = strict(() => parseStrict(bytes, { depthFrom: "members" }));
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw invalidJson("the request body must be a JSON object");
  }
  return request;
}

/** Runs a strict parse; its error becomes ours. */
export function strict<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof JsonError) throw invalidJson(error.message);
    throw error;
  }
}
