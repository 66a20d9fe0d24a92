/**
 * Cloudflare Email Worker: hands mail for a relay's inboxes to the relay.
 *
 * Settings of the Worker: RELAY_URL (https://relay.example.org), and as a secret
 * RELAY_MAIL_INBOUND_SECRET, the same as the relay's. In Email Routing, send the domain's addresses
 * (the catch-all) to this Worker.
 *
 * Cloudflare does not tell who the client was: `auth.spf` is none, and DKIM speaks for the sender.
 */
const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;

export default {
  /** What it throws is a temporary failure: the sender's server keeps the mail and tries again. */
  async email(message, env) {
    if (message.rawSize > MAX_MESSAGE_BYTES) return message.setReject("5.3.4 Message too large");
    const raw = new Uint8Array(await new Response(message.raw).arrayBuffer());
    const envelope = asciiJson({ from: message.from ?? "", to: [message.to] });
    const response = await fetch(new URL("/v1/mail/inbound/raw", env.RELAY_URL), {
      method: "POST",
      headers: await signedHeaders(env.RELAY_MAIL_INBOUND_SECRET, envelope, raw),
      body: raw,
    });
    if (response.ok) return;
    const answer = await response.json().catch(() => ({}));
    const why = answer.error?.message ?? "";
    if (response.status === 404 && why.startsWith("no recipient of this message")) {
      const isUnknown = why.includes("(not_found:");
      return message.setReject(isUnknown ? "5.1.1 No such inbox" : "5.7.1 Refused");
    }
    if (response.status === 400) return message.setReject("5.6.0 Not a message for the relay");
    if (response.status === 413) return message.setReject("5.3.4 Message too large");
    throw new Error(`the relay answered ${response.status} ${answer.error?.code ?? ""}`);
  },
};

/** HMAC-SHA256 over `{id}.{timestamp}.{envelope}.` and the raw bytes. */
async function signedHeaders(secret, envelope, raw) {
  const encoder = new TextEncoder();
  // The same mail has the same id in every try, so that the relay stores it once.
  const digest = await crypto.subtle.digest("SHA-256", joined(encoder.encode(envelope), raw));
  const id = `cf_${
    [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, "0")).join("")
  }`;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const bytes = Uint8Array.from(atob(secret.trim().replace(/^whsec_/, "")), (c) => c.charCodeAt(0));
  const key = await crypto.subtle.importKey(
    "raw",
    bytes,
    { name: "HMAC", hash: "SHA-256" },
    false,
    [
      "sign",
    ],
  );
  const signed = joined(encoder.encode(`${id}.${timestamp}.${envelope}.`), raw);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
  return {
    "Content-Type": "message/rfc822",
    "X-Relay-Envelope": envelope,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${btoa(String.fromCharCode(...mac))}`,
  };
}

function joined(first, second) {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** A header has ASCII only; JSON can write every other character as an escape. */
function asciiJson(value) {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
