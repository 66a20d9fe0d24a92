/** What a request may say of a message beyond its text: subject, own headers, labels, time. Pure. */
import type { JsonValue } from "../../../../toolkit/json_value.ts";
import { invalidJson } from "../../../base/errors.ts";
import { readTime } from "../../../base/http/fields/read_time.ts";
import { DAY_MS } from "../../../base/time/time_units.ts";
import type { ExtraHeader } from "../../records/message_content.ts";
import { readLine } from "./read_line.ts";

/** Code points of a subject, and of a header's value. */
export const MAX_SUBJECT = 998;
const MAX_HEADERS = 20;
const MAX_LABELS = 20;
const HEADER_NAME = /^X-[A-Za-z0-9-]{1,74}$/;
/**
 * Ours, and the headers that submission providers take orders from (recipients, tracking, templates):
 * behind such a provider an order would get round every rule about recipients.
 */
const RESERVED_PREFIXES = [
  "x-relay-",
  "x-mailgun-",
  "x-mailin-",
  "x-mailjet-",
  "x-mc-",
  "x-mj-",
  "x-msys-",
  "x-pm-",
  "x-report-abuse-to",
  "x-sendgrid-",
  "x-ses-",
  "x-sib-",
  "x-smtpapi",
  "x-sparkpost-",
];
const LABEL = /^[a-z0-9_-]{1,32}$/;
const MIN_AHEAD_MS = 30_000;
const MAX_AHEAD_MS = 30 * DAY_MS;

/** One line of at most 998 code points, trimmed; an empty one is none. @throws RelayError `invalid_json` */
export function readSubject(given: JsonValue | undefined): string | null {
  if (given === undefined || given === null) return null;
  return readLine("subject", given, MAX_SUBJECT) || null;
}

/** Header fields that begin with X-, in the order given. @throws RelayError `invalid_json` naming the field */
export function readExtraHeaders(given: JsonValue | undefined): ExtraHeader[] {
  if (given === undefined || given === null) return [];
  if (typeof given !== "object" || Array.isArray(given)) {
    throw invalidJson('headers must be an object such as {"X-Campaign": "spring"}');
  }
  const headers = Object.entries(given);
  if (headers.length > MAX_HEADERS) throw invalidJson(`headers must hold at most ${MAX_HEADERS}`);
  return headers.map(([name, value], index) => {
    if (!HEADER_NAME.test(name) || isReserved(name)) {
      throw invalidJson(
        `headers: the name of number ${
          index + 1
        } must be X- and 1 to 74 of A-Z, a-z, 0-9 and -, and must not begin with X-Relay- or what a mail provider takes orders by`,
      );
    }
    const field = `headers.${name}`;
    return { name, value: readLine(field, value, MAX_SUBJECT) };
  });
}

function isReserved(name: string): boolean {
  return RESERVED_PREFIXES.some((prefix) => name.toLowerCase().startsWith(prefix));
}

/** Each label once, in first order. @throws RelayError `invalid_json` naming the index */
export function readLabels(given: JsonValue | undefined): string[] {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given)) throw invalidJson("labels must be an array of strings");
  const labels = new Set<string>();
  for (const [index, label] of given.entries()) {
    if (typeof label !== "string" || !LABEL.test(label)) {
      throw invalidJson(`labels[${index}] must be 1 to 32 characters of a-z, 0-9, _ and -`);
    }
    labels.add(label);
    if (labels.size > MAX_LABELS) {
      throw invalidJson(`labels must hold at most ${MAX_LABELS} different ones`);
    }
  }
  return [...labels];
}

/** 30 s to 30 days ahead, unix ms. @throws RelayError `invalid_json` */
export function readSendAt(given: JsonValue | undefined, nowMs: number): number | null {
  if (given === undefined || given === null) return null;
  const atMs = readTime("send_at", given);
  if (atMs - nowMs >= MIN_AHEAD_MS && atMs - nowMs <= MAX_AHEAD_MS) return atMs;
  throw invalidJson(
    "send_at must be 30 seconds to 30 days ahead; leave it out to send at once",
  );
}
