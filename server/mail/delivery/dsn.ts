/**
 * Reports of delivery (RFC 3464) as servers really write them: what a report says of recipients, read
 * leniently from the bytes of a message. Time and memory are bounded: only its beginning counts.
 */
import { Buffer } from "node:buffer";

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

/** Reports stand before the mail that they return; what is behind this is not looked at. */
const READ_BYTES = 256 * 1024;
const MAX_PARTS = 50;
const MAX_DEPTH = 4;
const MAX_RECIPIENTS = 100;
/** Lines of a header, and of what is said of one recipient. */
const MAX_LINES = 2_000;
const MAX_DIAGNOSTIC = 2_000;

interface Entity {
  /** Lowercased names, the first of each; values unfolded. */
  headers: ReadonlyMap<string, string>;
  body: string;
}

/**
 * What a message reports of its recipients, in its order.
 * @param raw of the message (RFC 5322)
 * @returns null for a message that is no report of delivery
 */
export function parseDsn(raw: Uint8Array): DsnRecipient[] | null {
  const text = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, READ_BYTES))
    .toString("latin1");
  const status = findStatus(readEntity(text), { parts: MAX_PARTS }, 0);
  if (status === null) return null;
  const recipients: DsnRecipient[] = [];
  for (const fields of groupsOf(status)) {
    const recipient = readRecipient(fields);
    if (recipient !== null && recipients.push(recipient) === MAX_RECIPIENTS) break;
  }
  return recipients;
}

/**
 * The recipient that a report of a mail to one address is about: the one with that address, else the
 * first that failed, else the first.
 */
export function reportedOn(
  recipients: readonly DsnRecipient[],
  address: string,
): DsnRecipient | null {
  const lowercased = address.toLowerCase();
  return recipients.find(({ addresses }) => addresses.includes(lowercased)) ??
    recipients.find(({ action }) => action === "failed") ?? recipients[0] ?? null;
}

/** The body of the first part with the machine's words of a report. */
function findStatus(
  { headers, body }: Entity,
  left: { parts: number },
  depth: number,
): string | null {
  const type = headers.get("content-type") ?? "text/plain";
  const name = /^[^;\s]*/.exec(type)![0].toLowerCase();
  if (name === "message/delivery-status" || name === "message/global-delivery-status") {
    return depth > 0 ? decoded(body, headers.get("content-transfer-encoding")) : null;
  }
  if (!name.startsWith("multipart/") || depth >= MAX_DEPTH) return null;
  const boundary = parameterOf(type, "boundary");
  if (boundary === null || boundary === "") return null;
  for (const part of partsOf(body, boundary)) {
    if (left.parts-- <= 0) return null;
    const found = findStatus(readEntity(part), left, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

function readEntity(text: string): Entity {
  const blank = /(?:^|\n)\r?\n/.exec(text);
  const end = blank === null ? text.length : blank.index;
  const headers = new Map<string, string>();
  for (const [name, value] of fieldsOf(text.slice(0, end))) {
    if (!headers.has(name)) headers.set(name, value);
  }
  return { headers, body: blank === null ? "" : text.slice(end + blank[0].length) };
}

/** Fields of a header, unfolded; lines that are none are skipped. */
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

function parameterOf(value: string, name: string): string | null {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^;\\s]+))`, "i").exec(value);
  return found === null ? null : found[1] ?? found[2]!;
}

/** The texts between the lines of a boundary, without the preamble and what follows the last one. */
function* partsOf(body: string, boundary: string): Generator<string> {
  const marker = `--${boundary}`;
  let begin: number | null = null;
  for (let at = body.indexOf(marker); at >= 0; at = body.indexOf(marker, at + marker.length)) {
    if (at > 0 && body[at - 1] !== "\n") continue;
    const lineEnd = body.indexOf("\n", at);
    const rest = body.slice(at + marker.length, lineEnd < 0 ? undefined : lineEnd).trimEnd();
    const isLast = rest === "--";
    if (!isLast && rest !== "") continue;
    if (begin !== null) yield body.slice(begin, at);
    if (isLast || lineEnd < 0) return;
    begin = lineEnd + 1;
  }
  if (begin !== null) yield body.slice(begin);
}

function decoded(body: string, encoding = ""): string {
  switch (encoding.trim().toLowerCase()) {
    case "base64":
      return Buffer.from(body, "base64").toString("latin1");
    case "quoted-printable":
      return body.replaceAll(/=[ \t]*\r?\n/g, "").replaceAll(
        /=([0-9A-Fa-f]{2})/g,
        (_, hex: string) => String.fromCharCode(parseInt(hex, 16)),
      );
    default:
      return body;
  }
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
  const said = ACTIONS.find((action) => action === word);
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
