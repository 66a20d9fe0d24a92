/** Forms that people send from pages (application/x-www-form-urlencoded), read strictly. */
import { invalidJson } from "../../errors.ts";
import { readQuery, text } from "./query.ts";

const MAX_FIELDS = 32;
const NAMES = new Intl.ListFormat("en-GB");

export function isForm({ headers }: Pick<Request, "headers">): boolean {
  const type = headers.get("content-type") ?? "";
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type);
}

/**
 * @param names of the fields that the form is to have
 * @throws RelayError `invalid_json` for a body that is said to be anything else than a form
 */
export function requireForm(request: Pick<Request, "headers">, names: readonly string[]): void {
  if (isForm(request)) return;
  throw invalidJson(
    `the body must be a form (application/x-www-form-urlencoded) with ${NAMES.format(names)}`,
  );
}

/**
 * The named fields that a form's body has; others are ignored.
 * @throws RelayError `invalid_json` for bytes or percent-encoding that are no UTF-8, a field that is
 * repeated, and more than 32 fields
 */
export function readForm<Name extends string>(
  bytes: Uint8Array,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  let body: string;
  try {
    body = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidJson("the form must be sent in UTF-8");
  }
  if (body.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) {
    throw invalidJson(`a form has at most ${MAX_FIELDS} fields`);
  }
  const fields = Object.fromEntries(names.map((name) => [name, text()]));
  return readQuery(body, fields, "the form's field") as Partial<Record<Name, string>>;
}
