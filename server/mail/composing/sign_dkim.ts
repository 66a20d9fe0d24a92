/**
 * DKIM signatures (RFC 6376): rsa-sha256, relaxed/relaxed, without l=. Own code: neither library that is
 * here signs the absence of further fields (section 5.4), and one of them sends
 * unsigned, without an error, for a key that it cannot read.
 */
import { Buffer } from "node:buffer";
import { createHash, createSign } from "node:crypto";
import { SINGLE_FIELDS } from "../reading/mime/single_fields.ts";

export interface DkimKey {
  /** d=, where the public key is published. */
  domain: string;
  /** s=, a label. */
  selector: string;
  /** PKCS#8. */
  privateKeyPem: string;
}

/** A field that may stand once is signed once more than it occurs: adding one breaks the signature. */
const SIGNED = [
  ...SINGLE_FIELDS,
  "in-reply-to",
  "references",
  "auto-submitted",
  "content-transfer-encoding",
];
/** Of d= and s=: labels (RFC 1035, section 2.3.1); what is none would begin a tag of its own. */
const LABELS =
  /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?)*$/;
const LINE_LENGTH = 72;
const SPACE = 32;
const TAB = 9;
const CR = 13;
const LF = 10;

/**
 * The DKIM-Signature field of a message, with the line end behind it.
 * @param message in the form that requireWireForm() checks
 * @throws when the key cannot sign
 */
export function signDkim(
  message: Uint8Array,
  { domain, selector, privateKeyPem }: DkimKey,
): string {
  if (!LABELS.test(domain) || !LABELS.test(selector)) {
    throw new TypeError("a signature needs a domain and a selector of letters, digits and hyphens");
  }
  const bodyStart = Buffer.from(message.buffer, message.byteOffset, message.byteLength)
    .indexOf("\r\n\r\n");
  if (bodyStart < 0) throw new TypeError("a message to sign has an empty line behind its header");
  const fields = headerFields(message.subarray(0, bodyStart));
  const { names, text } = signedFields(fields);
  const bodyHash = relaxedBodyHash(message.subarray(bodyStart + 4));
  const field = [
    "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;",
    `d=${domain}; s=${selector};`,
    `${foldNames(names)};`,
    `bh=${bodyHash};`,
    "b=",
  ].join("\r\n ");
  const signature = createSign("RSA-SHA256").update(text + relaxedField(field), "latin1")
    .sign(privateKeyPem, "base64");
  const lines = signature.match(new RegExp(`.{1,${LINE_LENGTH}}`, "g"))!;
  return `${field}${lines.join("\r\n ")}\r\n`;
}

/** Fields of a header, folded as they are, from the first. */
function headerFields(header: Uint8Array): string[] {
  const fields: string[] = [];
  for (const line of Buffer.from(header).toString("latin1").split("\r\n")) {
    if (line.startsWith(" ") || line.startsWith("\t")) fields[fields.length - 1] += `\r\n${line}`;
    else fields.push(line);
  }
  return fields;
}

/** h=, and what is signed of these fields; of several of a name the last comes first (section 5.4.2). */
function signedFields(fields: readonly string[]): { names: string[]; text: string } {
  const names: string[] = [];
  let text = "";
  for (const name of SIGNED) {
    for (const field of fields.filter((field) => nameOf(field) === name).reverse()) {
      names.push(name);
      text += `${relaxedField(field)}\r\n`;
    }
    if (SINGLE_FIELDS.includes(name)) names.push(name);
  }
  return { names, text };
}

function nameOf(field: string): string {
  return field.slice(0, field.indexOf(":")).trimEnd().toLowerCase();
}

/** Section 3.4.2. */
function relaxedField(field: string): string {
  const value = field.slice(field.indexOf(":") + 1).replaceAll("\r\n", "");
  return `${nameOf(field)}:${value.replace(/[ \t]+/g, " ").trim()}`;
}

/** SHA-256 of a body in relaxed form (section 3.4.4), base64. */
function relaxedBodyHash(body: Uint8Array): string {
  const relaxed = new Uint8Array(body.length + 2);
  let length = 0;
  /** End of the last line that is not empty: empty lines at the end do not count. */
  let end = 0;
  let hasSpace = false;
  for (let i = 0; i < body.length; i++) {
    const byte = body[i]!;
    if (byte === SPACE || byte === TAB) {
      hasSpace = true;
    } else if (byte === CR && body[i + 1] === LF) {
      // White space before it is dropped.
      const isEmpty = length === 0 || relaxed[length - 1] === LF;
      relaxed[length++] = CR;
      relaxed[length++] = LF;
      if (!isEmpty) end = length;
      hasSpace = false;
      i++;
    } else {
      if (hasSpace) relaxed[length++] = SPACE;
      hasSpace = false;
      relaxed[length++] = byte;
    }
  }
  return createHash("sha256").update(relaxed.subarray(0, end)).digest("base64");
}

/** h= in lines of bounded length. */
function foldNames(names: readonly string[]): string {
  const lines: string[] = [];
  let line = "h=";
  for (const [index, name] of names.entries()) {
    const part = index < names.length - 1 ? `${name}:` : name;
    if (line.length + part.length > LINE_LENGTH) {
      lines.push(line);
      line = " ";
    }
    line += part;
  }
  return [...lines, line].join("\r\n");
}
