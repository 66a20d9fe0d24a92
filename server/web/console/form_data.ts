/** The form in which mail is written: fields, and files that are uploaded with it (RFC 7578). */
import { Buffer } from "node:buffer";
import { invalidJson } from "../../base/errors.ts";
import type { Handler } from "../../base/http/routes/route.ts";
import { readBody } from "../../base/http/routes/read_body.ts";

export interface UploadedFile {
  filename: string;
  content_type: string;
  /** Standard base64. */
  content: string;
}

export interface WrittenForm {
  /** "" for a field that the form has not. */
  text(name: string): string;
  files: UploadedFile[];
}

/** @throws RelayError `invalid_json` for what is no such form */
export async function readWrittenForm(c: Parameters<Handler>[0]): Promise<WrittenForm> {
  const type = c.req.raw.headers.get("content-type") ?? "";
  const bytes = await readBody(c);
  let data: FormData;
  requireFewParts(type, bytes);
  try {
    data = await new Response(bytes, { headers: { "Content-Type": type } }).formData();
  } catch {
    throw invalidJson("the body must be a form (multipart/form-data)");
  }
  const files: UploadedFile[] = [];
  for (const value of data.getAll("files")) {
    // A browser sends an empty one where none was chosen.
    if (typeof value === "string" || (value.name === "" && value.size === 0)) continue;
    files.push({
      filename: value.name.replaceAll(/[/\\]/g, "_"),
      content_type: value.type || "application/octet-stream",
      content: new Uint8Array(await value.arrayBuffer()).toBase64(),
    });
  }
  return {
    text(name) {
      const value = data.get(name);
      return typeof value === "string" ? value.replaceAll("\r\n", "\n") : "";
    },
    files,
  };
}

/** Fields and files of the form, and some more. */
const MAX_PARTS = 64;

/**
 * Refuses a form of many parts before it is taken apart: each costs some microseconds of the main thread.
 * @throws RelayError `invalid_json`
 */
function requireFewParts(type: string, bytes: Uint8Array<ArrayBuffer>): void {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(type) ?? [];
  const boundary = quoted ?? plain;
  if (!/^multipart\/form-data\b/i.test(type) || boundary === undefined) {
    throw invalidJson("the body must be a form (multipart/form-data)");
  }
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const mark = `--${boundary}`;
  let count = 0;
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + mark.length)) {
    if (++count > MAX_PARTS) throw invalidJson(`the form must have at most ${MAX_PARTS - 1} parts`);
  }
}

type Address = string | { name: string; address: string };

/** `a@b.example, Ann <ann@b.example>` as the API takes addresses. Pure. */
export function splitAddresses(text: string): Address[] {
  const parts = text.match(/(?:"[^"]*"|[^,;\n"])+/g) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== "").map((part) => {
    const at = part.endsWith(">") ? part.lastIndexOf("<") : -1;
    if (at < 0) return part;
    const address = part.slice(at + 1, -1);
    const plain = part.slice(0, at).trim().replace(/^"(.*)"$/s, "$1").trim();
    return plain === "" ? address : { name: plain, address };
  });
}

/** The same the other way round. */
export function joinAddresses(list: readonly { name: string | null; address: string }[]): string {
  return list.map(({ name, address }) =>
    name === null
      ? address
      : /[,;"<>]/.test(name)
      ? `"${name.replaceAll('"', "'")}" <${address}>`
      : `${name} <${address}>`
  ).join(", ");
}
