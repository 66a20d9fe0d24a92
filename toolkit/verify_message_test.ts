import { deepStrictEqual as deepEqual, rejects, strictEqual as equal } from "node:assert/strict";
import { Buffer } from "node:buffer";
import { canonicalJson } from "./canonical_json.ts";
import { contentHash } from "./content_hash.ts";
import { generateKeyPair } from "./generate_key_pair.ts";
import type { InboxMessage } from "./inbox_message.ts";
import { signRequest } from "./sign_request.ts";
import { verifyMessage } from "./verify_message.ts";
import { wordName } from "./word_name.ts";

const SENDER = generateKeyPair();
const RECIPIENT = generateKeyPair();
const BODY = { text: "hello" };
const REQUEST = new TextEncoder().encode(canonicalJson({ body: BODY, to: RECIPIENT.address }));

function message(): InboxMessage {
  const { canonicalString, signature } = signRequest(
    { method: "POST", path: "/v1/messages", body: REQUEST, timestamp: 1760000000 },
    SENDER.privateKey,
  );
  return {
    id: 1,
    from: SENDER.address,
    from_handle: "some_sender",
    from_word_name: wordName(SENDER.publicKey),
    body: BODY,
    content_hash: contentHash(BODY),
    signature,
    canonical_string: canonicalString,
    in_reply_to: null,
    content_type: "text",
    created_at: "2025-10-09T08:53:21.000Z",
  };
}

const GOOD = {
  canonicalString: "ok",
  signature: "valid",
  sender: "pinned",
  contentHash: "match",
  body: "bound",
  addressee: "key",
  age: { signedAt: "2025-10-09T08:53:20.000Z", skewSeconds: 1, within: true },
};

Deno.test("verifyMessage() reads each field of an untrusted object once", async () => {
  const reads = new Map<string, number>();
  const original = message();
  const shifting = new Proxy(original, {
    get(target, field: string & keyof InboxMessage) {
      const count = (reads.get(field) ?? 0) + 1;
      reads.set(field, count);
      return count === 1 ? target[field] : "something else";
    },
  });
  const report = await verifyMessage(shifting, {
    recipient: { address: RECIPIENT.address },
    from: SENDER.address,
    request: REQUEST,
    maxSkewSeconds: 300,
  });
  deepEqual(report, GOOD);
  deepEqual([...reads].filter(([, count]) => count !== 1), []);
});

Deno.test("verifyMessage() is not moved by changes made while it works", async () => {
  const original = message() as { -readonly [F in keyof InboxMessage]: InboxMessage[F] };
  const request = Buffer.from(REQUEST);
  const answer = verifyMessage(original, { from: SENDER.address, request, maxSkewSeconds: 300 });
  request.fill(0);
  original.body = "other";
  original.signature = "";
  original.canonical_string = null;
  deepEqual(await answer, { ...GOOD, addressee: "unknown" });
});

Deno.test("verifyMessage() takes a message whose accessors throw as an error of the caller", async () => {
  const hostile = Object.defineProperty(message(), "body", {
    get() {
      throw new RangeError("no");
    },
  });
  await rejects(verifyMessage(hostile), RangeError);
});

Deno.test("verifyMessage() names the field and what it must be", async () => {
  const { created_at: _, ...rest } = message();
  await rejects(verifyMessage(rest), {
    name: "MessageError",
    code: "malformed_message",
    field: "created_at",
    message: "created_at is missing: it must be a string",
  });
  await rejects(verifyMessage({ ...rest, created_at: "yesterday" }), {
    message: "created_at must be a date and time as RFC 3339 writes it",
  });
});

Deno.test("verifyMessage() finds the canonical form of a body that was built by hand", async () => {
  const body = Object.assign(Object.create({ inherited: 1 }), BODY);
  const report = await verifyMessage({ ...message(), body }, {
    recipient: { address: RECIPIENT.address },
  });
  equal(report.body, "bound");
});

Deno.test("verifyMessage() takes null for an option that is not given", async () => {
  // deno-lint-ignore no-explicit-any -- what a program without types passes
  const asked = (options: any) => verifyMessage(message(), options);
  const unasked = await verifyMessage(message());
  equal(unasked.body, "not-checked");
  deepEqual(await asked(null), unasked);
  for (const name of ["recipient", "from", "request", "maxSkewSeconds"]) {
    deepEqual(await asked({ [name]: null }), unasked, name);
  }
  const recipient = { address: RECIPIENT.address, handle: null, wordName: null };
  deepEqual(
    await asked({ recipient }),
    await verifyMessage(message(), { recipient: { address: RECIPIENT.address } }),
  );
});

Deno.test("verifyMessage() refuses options of other types, and bytes are never an error", async () => {
  // deno-lint-ignore no-explicit-any -- what a program without types passes
  const asked = (options: any) => verifyMessage(message(), options);
  const wrong: [string, unknown][] = [
    ["from", { from: 1 }],
    ["request", { request: "{}" }],
    ["request", { request: 5 }],
    ["maxSkewSeconds", { maxSkewSeconds: "5" }],
    ["maxSkewSeconds", { maxSkewSeconds: NaN }],
    ["recipient.address", { recipient: {} }],
    ["recipient.address", { recipient: "some_agent" }],
    ["recipient.handle", { recipient: { address: RECIPIENT.address, handle: 123 } }],
    ["recipient.wordName", { recipient: { address: RECIPIENT.address, wordName: 1 } }],
  ];
  for (const [field, options] of wrong) {
    await rejects(asked(options), { code: "invalid_option", field });
  }
  for (const request of [new Uint8Array(0), new TextEncoder().encode("{"), Uint8Array.of(255)]) {
    equal((await asked({ request })).body, "unbound");
  }
  equal((await asked({ maxSkewSeconds: Infinity })).age.within, true);
});
