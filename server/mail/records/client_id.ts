/** What a client names an inbox, a draft or a webhook, so that making it again makes no second one. Pure. */
import type { JsonValue } from "../../../toolkit/json_value.ts";
import { invalidJson } from "../../base/errors.ts";

const CLIENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** @throws RelayError `invalid_json` */
export function readClientId(given: JsonValue | undefined): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given === "string" && CLIENT_ID.test(given)) return given;
  throw invalidJson("client_id must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
}
