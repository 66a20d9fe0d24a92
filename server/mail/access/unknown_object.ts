import { RelayError } from "../../base/errors.ts";

/** The refusal of an object that is not the caller's, or is none. */
export function unknownObject(what: string): RelayError {
  return new RelayError("not_found", `the org of this API key has no such ${what}`);
}
