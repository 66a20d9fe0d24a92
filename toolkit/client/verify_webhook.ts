import { decodeWebhookSecret, MIN_INBOUND_SECRET_BYTES } from "./inbound_secret.ts";
import { systemClock } from "./clock.ts";
import type { MailEvent } from "./mail_event.ts";
import { webhookSignature } from "./sign_inbound.ts";
import { WebhookError } from "./webhook_error.ts";

/** Headers of a request as platforms give them: names in any case, values in one string or several. */
export type WebhookHeaders =
  | Pick<Headers, "get">
  | ReadonlyMap<string, string | readonly string[]>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** How {@linkcode verifyWebhook} judges the time of a delivery. */
export interface WebhookOptions {
  /** Unix time in milliseconds; the platform's clock unless given. */
  readonly nowMs?: number;
  /** How far `webhook-timestamp` may be from it, either way; 300 unless given. */
  readonly toleranceSeconds?: number;
}

const TOLERANCE_SECONDS = 300;

/**
 * Checks that a request is a delivery by a relay's webhook, and gives its event. Standard Webhooks
 * 1.0: HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.` and the raw body. Of several signatures one
 * by one of the secrets is enough, as while a secret is rotated; those of other versions than `v1` are
 * passed over. Compares in constant time.
 *
 * An event may come several times, and not in order: `event.id` tells repetitions.
 *
 * @example
 * ```ts
 * import { verifyWebhook, WebhookError } from "agent-relay-toolkit/client";
 *
 * async function answer(request: Request, secret: string): Promise<Response> {
 *   try {
 *     const event = verifyWebhook(secret, request.headers, await request.arrayBuffer());
 *     if (event.type === "message.received") console.log(event.data.message.id);
 *     return new Response(null, { status: 204 });
 *   } catch (thrown) {
 *     if (!(thrown instanceof WebhookError)) throw thrown;
 *     return new Response(thrown.code, { status: 401 });
 *   }
 * }
 * ```
 *
 * @param secret `rmwh_` or `whsec_` and base64, or base64, of at least 24 bytes; or several of them
 * @param body as it came: what was parsed and written anew has other bytes
 * @throws {WebhookError} what is wrong, as its `code`
 * @throws {TypeError} for a body that is neither bytes nor text
 */
export function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  body: Uint8Array | ArrayBuffer | string,
  { nowMs = systemClock.now(), toleranceSeconds = TOLERANCE_SECONDS }: WebhookOptions = {},
): MailEvent {
  const keys = keysOf(secret);
  const bytes = bytesOf(body);
  const [id, timestamp, signatures] = readHeaders(headers);
  requireTime(timestamp, nowMs, toleranceSeconds);
  const expected = keys.map((key) => webhookSignature(key, `${id}.${timestamp}.`, bytes));
  let matches = 0;
  // Each is compared with each, and no comparison ends early.
  for (const given of signatures.split(/,? +/)) {
    for (const right of expected) matches |= isSame(given, right) ? 1 : 0;
  }
  if (matches === 0) {
    throw new WebhookError(
      "no_match",
      "no signature is one by this secret: the secret is another webhook's, the body was changed " +
        "or parsed on the way, or the request is not the relay's",
    );
  }
  return readEvent(bytes);
}

function keysOf(secret: string | readonly string[]): Uint8Array[] {
  const keys = (typeof secret === "string" ? [secret] : secret).map(decodeWebhookSecret);
  const good = keys.filter((key) => key !== null);
  if (good.length > 0 && good.length === keys.length) return good;
  throw new WebhookError(
    "bad_secret",
    `a secret must be base64 of at least ${MIN_INBOUND_SECRET_BYTES} bytes, with rmwh_, whsec_ or ` +
      "nothing before it",
  );
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === "string") return new TextEncoder().encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  throw new TypeError(
    "the body must be the raw bytes of the request, or its text: what was parsed cannot be verified",
  );
}

/** Id, timestamp and signatures. */
function readHeaders(headers: WebhookHeaders): [string, string, string] {
  const get = getterOf(headers);
  return ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = get(name);
    if (value) return value;
    throw new WebhookError("missing_header", `the request has no header ${name}`);
  }) as [string, string, string];
}

function getterOf(headers: WebhookHeaders): (name: string) => string | null | undefined {
  // Not every platform's Headers are the global ones.
  if (!(headers instanceof Map) && typeof headers.get === "function") {
    const own = headers as Pick<Headers, "get">;
    return (name) => own.get(name);
  }
  const entries = headers instanceof Map ? headers : Object.entries(headers);
  const found = new Map<string, string>();
  for (const [name, value] of entries as Iterable<[string, string | string[] | undefined]>) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    // As Headers has several of one name; behind a signature the comma is passed over.
    found.set(key, [...found.has(key) ? [found.get(key)] : [], value].flat().join(", "));
  }
  return (name) => found.get(name);
}

function requireTime(timestamp: string, nowMs: number, toleranceSeconds: number): void {
  if (!/^[0-9]{1,12}$/.test(timestamp)) {
    throw new WebhookError("bad_timestamp", "webhook-timestamp is not Unix time in whole seconds");
  }
  const ageSeconds = nowMs / 1000 - Number(timestamp);
  const words = `the clock here by more than ${toleranceSeconds} s`;
  // So written that a tolerance or a time that is no number refuses all.
  if (!(ageSeconds <= toleranceSeconds)) {
    throw new WebhookError("too_old", `webhook-timestamp is behind ${words}`);
  }
  if (!(ageSeconds >= -toleranceSeconds)) {
    throw new WebhookError("too_new", `webhook-timestamp is ahead of ${words}`);
  }
}

/** Takes as long wherever two texts of one length differ. */
function isSame(given: string, right: string): boolean {
  if (given.length !== right.length) return false;
  let difference = 0;
  for (let n = 0; n < right.length; n++) difference |= given.charCodeAt(n) ^ right.charCodeAt(n);
  return difference === 0;
}

function readEvent(bytes: Uint8Array): MailEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw new WebhookError("bad_json", "the body is signed, but no JSON in UTF-8");
  }
  if (isEvent(event)) return event;
  throw new WebhookError("bad_json", "the body is signed, but no event of a relay");
}

function isEvent(value: unknown): value is MailEvent {
  if (typeof value !== "object" || value === null) return false;
  const { id, type, timestamp, data } = value as Record<string, unknown>;
  return [id, type, timestamp].every((field) => typeof field === "string") &&
    typeof data === "object" && data !== null;
}
