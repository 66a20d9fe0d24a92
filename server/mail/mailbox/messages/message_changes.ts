/** Bodies of PATCH on messages and threads (docs/mail.md, "Labels"). Pure. */
import { z } from "@hono/zod-openapi";
import type { JsonObject } from "../../../../toolkit/json_value.ts";
import { described } from "../../../base/description/schemas/queries.ts";
import { invalidJson } from "../../../base/errors.ts";
import { text } from "../../../base/http/fields/query.ts";
import type { MessageRow } from "../../records/message_record.ts";
import type { MessageChanges } from "./messages.ts";

export const LABEL = /^[a-z0-9_-]{1,32}$/;
export const MAX_LABELS = 20;
/** Of lists: requireLabel() refuses what is none, once the whole query is read. */
export const LABEL_FILTER = described(text(), z.string().regex(LABEL).optional());

/** @throws RelayError `invalid_json` naming the field */
export function readMessageChanges(body: JsonObject): MessageChanges {
  refuseOthers(body, ["read", "add_labels", "remove_labels"]);
  const { read, add_labels: add, remove_labels: remove } = body;
  return {
    ...(read === undefined ? {} : { read: readFlag(read) }),
    addLabels: readLabels("add_labels", add),
    removeLabels: readLabels("remove_labels", remove),
  };
}

/** @throws RelayError `invalid_json` */
export function readThreadChanges(body: JsonObject): { read: boolean } {
  refuseOthers(body, ["read"]);
  return { read: readFlag(body["read"]) };
}

/** @throws RelayError `invalid_json` for a query parameter `label` that is none */
export function requireLabel(label: string | undefined): void {
  if (label === undefined || LABEL.test(label)) return;
  throw invalidJson("query parameter label must be 1 to 32 of a-z, 0-9, _ and -");
}

/**
 * Labels as they are stored: each once.
 * @throws RelayError `invalid_json` naming the field and the index
 */
export function readLabels(field: string, given: unknown): readonly string[] {
  if (given === undefined) return [];
  if (!Array.isArray(given)) throw invalidJson(`${field} must be an array of labels`);
  for (const [index, label] of given.entries()) {
    if (typeof label === "string" && LABEL.test(label)) continue;
    throw invalidJson(`${field}[${index}] must be 1 to 32 of a-z, 0-9, _ and -`);
  }
  const labels = [...new Set(given as string[])];
  if (labels.length > MAX_LABELS) throw tooManyLabels();
  return labels;
}

/**
 * A message as changed; null where nothing changes.
 * @throws RelayError `invalid_json` for too many labels
 */
export function changeMessage(row: MessageRow, changes: MessageChanges): MessageRow | null {
  // What its inbox has written is read.
  const read = row.direction === "outbound" ? row.read : changes.read ?? row.read;
  const labels = [
    ...new Set([...row.labels, ...changes.addLabels]).difference(new Set(changes.removeLabels)),
  ];
  if (labels.length > MAX_LABELS) throw tooManyLabels();
  const isSame = read === row.read && labels.length === row.labels.length &&
    labels.every((label, i) => label === row.labels[i]);
  return isSame ? null : { ...row, read, labels };
}

function readFlag(read: unknown): boolean {
  if (typeof read !== "boolean") throw invalidJson("read must be true or false");
  return read;
}

function refuseOthers(body: JsonObject, known: readonly string[]): void {
  const other = Object.keys(body).find((name) => !known.includes(name));
  if (other === undefined) return;
  throw invalidJson(
    `unknown field ${JSON.stringify(other.slice(0, 64))}; known are ${known.join(", ")}`,
  );
}

function tooManyLabels() {
  return invalidJson(`a message has at most ${MAX_LABELS} labels`);
}
