/** What local mode's receiver of webhooks was sent, and what it makes of the signature. */
import { verifyWebhook } from "../../../toolkit/client/verify_webhook.ts";
import { WebhookError } from "../../../toolkit/client/webhook_error.ts";
import type { KnownWebhook } from "./local_webhooks.ts";
import { Newest } from "./newest.ts";

/**
 * `ok` by a secret of a webhook of this relay; `wrong` where such a webhook points here, but no secret
 * of it signed this; `unknown secret` where none points here.
 */
export type SignatureVerdict = "ok" | "wrong" | "unknown secret" | "missing" | "bad time";

export interface Signature {
  verdict: SignatureVerdict;
  /** The webhook whose secret signed; null where none did. */
  webhookId: string | null;
}

export interface CapturedRequest {
  /** From 1 on, in the order of arrival. */
  number: number;
  /** When it came, Unix ms. */
  atMs: number;
  /** Of the receiver. */
  name: string;
  /** Path and query, as they stand in the request. */
  target: string;
  headers: readonly (readonly [name: string, value: string])[];
  body: Uint8Array<ArrayBuffer>;
  /** Of the body where it is an event; null where it is none. */
  event: { id: string; type: string } | null;
  signature: Signature;
  /** What it was answered. */
  status: number;
}

const BOUNDS = { entries: 100, bytes: 8 * 2 ** 20 };
const ENTRY_BYTES = 512;

/** The newest 100 requests, at most 8 MiB of them. */
export function openCapturedRequests(): Newest<CapturedRequest> {
  return new Newest(
    BOUNDS,
    ({ body, headers, target }) =>
      ENTRY_BYTES + body.length + target.length +
      headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0),
  );
}

/**
 * Judges a request by the secrets of all webhooks: one that is reached under another name, or was given
 * another URL since, is told by its own.
 * @param path of the receiver
 */
export function checkSignature(
  { headers, body, path }: { headers: Headers; body: Uint8Array; path: string },
  known: readonly KnownWebhook[],
  nowMs: number,
): Signature {
  if (["id", "timestamp", "signature"].some((name) => !headers.get(`webhook-${name}`))) {
    return { verdict: "missing", webhookId: null };
  }
  for (const { id, secrets } of known) {
    const code = refusalOf(() => verifyWebhook(secrets, headers, body, { nowMs }));
    if (code === null || code === "bad_json") return { verdict: "ok", webhookId: id };
    if (code !== "no_match" && code !== "bad_secret") {
      return { verdict: "bad time", webhookId: null };
    }
  }
  const pointsHere = known.some(({ url }) => URL.parse(url)?.pathname === path);
  return { verdict: pointsHere ? "wrong" : "unknown secret", webhookId: null };
}

function refusalOf(verify: () => unknown): WebhookError["code"] | null {
  try {
    verify();
    return null;
  } catch (thrown) {
    if (thrown instanceof WebhookError) return thrown.code;
    throw thrown;
  }
}

const WORD = /^[a-zA-Z0-9_.-]{1,64}$/;

/** Id and type of an event; null for a body that is none. */
export function readEvent(body: Uint8Array): CapturedRequest["event"] {
  try {
    const { id, type } = JSON.parse(new TextDecoder().decode(body));
    return WORD.test(id) && WORD.test(type) ? { id, type } : null;
  } catch {
    return null;
  }
}
