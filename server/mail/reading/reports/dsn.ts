/**
 * Reports of delivery (RFC 3464) as servers really write them: what a report says of recipients, read
 * leniently from the parts of a message. Pure; linear in what it looks at.
 */
import { decodeCharset } from "../mime/charset.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import { decodeTransfer } from "../mime/transfer_encoding.ts";
import type { MailPart } from "../mime/walk_parts.ts";

export type DsnAction = "failed" | "delayed" | "delivered" | "relayed" | "expanded";

/** What a report says of one recipient. */
export interface DsnRecipient {
  action: DsnAction;
  /** As in "5.1.1"; null where the report gives none. */
  status: string | null;
  /** What the server said that the report is about, with its type, as in "smtp; 550 5.1.1 unknown". */
  diagnostic: { type: string; text: string } | null;
  /** Lowercased addresses that it names: as it was given, and as it was tried last. */
  addresses: readonly string[];
}

const STATUS_TYPES = ["message/delivery-status", "message/global-delivery-status"];
const MAX_RECIPIENTS = 100;
/** Lines about one recipient. */
const MAX_LINES = 2_000;
const MAX_DIAGNOSTIC = 2_000;

/**
 * What a message reports of its recipients, in its order; what names no recipient, or says nothing of
 * it, is left out.
 * @param raw of the message (RFC 5322)
 * @param parts of it, by walkParts()
 */
export function* readDsn(
  raw: Uint8Array,
  parts: readonly MailPart[],
): Sliced<DsnRecipient[]> {
  const part = parts.find(({ contentType, depth }) =>
    depth > 0 && STATUS_TYPES.includes(contentType)
  );
  const recipients: DsnRecipient[] = [];
  if (part === undefined) return recipients;
  const { bytes } = yield* decodeTransfer(raw.subarray(part.start, part.end), part.encoding);
  for (const fields of groupsOf(decodeCharset(bytes, "").text)) {
    const recipient = readRecipient(fields);
    if (recipient !== null && recipients.push(recipient) === MAX_RECIPIENTS) break;
  }
  return recipients;
}

/**
 * The recipient that a report of a mail to one address is about: the one with that address, else the
 * first that failed, else the first. Whom the mail was for its bounce address says alone.
 */
export function reportedOn(
  recipients: readonly DsnRecipient[],
  address: string,
): DsnRecipient | null {
  const lowercased = address.toLowerCase();
  return recipients.find(({ addresses }) => addresses.includes(lowercased)) ??
    recipients.find(({ action }) => action === "failed") ?? recipients[0] ?? null;
}

/** The fields of a group, unfolded; lines that are none are skipped. */
function* fieldsOf(text: string): Generator<[name: string, value: string]> {
  let name: string | null = null;
  let values: string[] = [];
  const whole = (): [string, string] => [name!, values.join(" ").trim()];
  for (const line of text.split(/\r?\n/, MAX_LINES)) {
    if (/^[ \t]/.test(line)) {
      if (name !== null) values.push(line.trim());
      continue;
    }
    if (name !== null) yield whole();
    const colon = line.indexOf(":");
    name = colon > 0 ? line.slice(0, colon).trim().toLowerCase() : null;
    values = [line.slice(colon + 1).trim()];
  }
  if (name !== null) yield whole();
}

/** The groups of fields that blank lines divide (RFC 3464, section 2.1). */
function* groupsOf(status: string): Generator<ReadonlyMap<string, string>> {
  for (const block of status.split(/\n(?:[ \t]*\r?\n)+/)) {
    const fields = new Map<string, string>();
    for (const [name, value] of fieldsOf(block)) if (!fields.has(name)) fields.set(name, value);
    if (fields.size > 0) yield fields;
  }
}

/** @returns null for a group that is about no recipient, or says nothing of it */
function readRecipient(fields: ReadonlyMap<string, string>): DsnRecipient | null {
  const addresses = ["original-recipient", "final-recipient"].flatMap((name) => {
    const value = fields.get(name);
    return value === undefined ? [] : [addressOf(value)];
  });
  const status = /(?:^|\s)([245]\.[0-9]{1,3}\.[0-9]{1,3})(?![0-9.])/.exec(
    fields.get("status") ?? "",
  )?.[1] ?? null;
  const action = actionOf(fields.get("action"), status);
  // Some servers leave the action out in the first group, where the report itself is described.
  if (action === null || addresses.length === 0 && !fields.has("action")) return null;
  return { action, status, diagnostic: diagnosticOf(fields.get("diagnostic-code")), addresses };
}

function addressOf(value: string): string {
  const text = value.includes(";") ? value.slice(value.indexOf(";") + 1) : value;
  return text.trim().replace(/^<(.*)>$/, "$1").toLowerCase();
}

const ACTIONS: readonly DsnAction[] = ["failed", "delayed", "delivered", "relayed", "expanded"];
const ACTION_OF_CLASS: Readonly<Record<string, DsnAction>> = {
  2: "delivered",
  4: "delayed",
  5: "failed",
};

function actionOf(value: string | undefined, status: string | null): DsnAction | null {
  const word = /^[a-z]+/i.exec(value ?? "")?.[0].toLowerCase();
  const said = word === "failure" ? "failed" : ACTIONS.find((action) => action === word);
  return said ?? (status === null ? null : ACTION_OF_CLASS[status[0]!]!);
}

function diagnosticOf(value: string | undefined): DsnRecipient["diagnostic"] {
  if (value === undefined || value === "") return null;
  const semicolon = value.indexOf(";");
  const [type, text] = semicolon < 0
    ? ["", value]
    : [value.slice(0, semicolon), value.slice(semicolon + 1)];
  return { type: type.trim().toLowerCase(), text: text.trim().slice(0, MAX_DIAGNOSTIC) };
}
