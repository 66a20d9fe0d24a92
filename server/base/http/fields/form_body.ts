import { invalidJson } from "../../errors.ts";

/**
 * The named fields of a form's body (application/x-www-form-urlencoded); others are ignored, absent
 * ones are "".
 * @throws RelayError `invalid_json` for bytes that are no UTF-8, and for a field that is repeated
 */
export function readForm<Name extends string>(
  bytes: Uint8Array,
  names: readonly Name[],
): Record<Name, string> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalidJson("the form must be sent in UTF-8");
  }
  const fields = new URLSearchParams(text);
  const values = {} as Record<Name, string>;
  for (const name of names) {
    const given = fields.getAll(name);
    if (given.length > 1) throw invalidJson(`the form's field ${name} is given more than once`);
    values[name] = given[0] ?? "";
  }
  return values;
}
