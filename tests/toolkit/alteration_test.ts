import { deepStrictEqual as deepEqual, strictEqual as equal } from "node:assert/strict";
import {
  canonicalJson,
  contentHash,
  generateKeyPair,
  type InboxMessage,
  JsonError,
  type JsonValue,
  MessageError,
  parseStrict,
  signRequest,
  verifyMessage,
  type VerifyMessageOptions,
  wordName,
} from "../../toolkit/mod.ts";
import { isLong } from "../support/long_test.ts";
import fc from "../support/seeded_fast_check.ts";

const SENDER = generateKeyPair();
const RECIPIENT = generateKeyPair();
const SIGNED_AT = 1760000000;

function signedMessage(
  body: JsonValue,
  inReplyTo: number | null,
  contentType: "text" | "json",
): InboxMessage {
  const request = {
    to: RECIPIENT.address,
    body: contentType === "json" ? canonicalJson(body) : body,
    in_reply_to: inReplyTo,
    content_type: contentType,
  };
  const { canonicalString, signature } = signRequest({
    method: "POST",
    path: "/v1/messages",
    body: new TextEncoder().encode(canonicalJson(request)),
    timestamp: SIGNED_AT,
  }, SENDER.privateKey);
  return {
    id: 1,
    from: SENDER.address,
    from_handle: "some_sender",
    from_word_name: wordName(SENDER.publicKey),
    body,
    content_hash: contentHash(body),
    signature,
    canonical_string: canonicalString,
    in_reply_to: inReplyTo,
    content_type: contentType,
    created_at: "2025-10-09T08:53:20.000Z",
  };
}

/** Whether every verdict that can be asked for is good, of this message text. */
async function isGood(text: Uint8Array, options: VerifyMessageOptions): Promise<boolean> {
  try {
    const report = await verifyMessage(parseStrict(text), options);
    return report.canonicalString === "ok" && report.signature === "valid" &&
      report.contentHash === "match" &&
      report.body === (options.recipient === undefined ? "not-checked" : "bound");
  } catch (thrown) {
    if (thrown instanceof MessageError || thrown instanceof JsonError) return false;
    throw thrown;
  }
}

const WITH_RECIPIENT = { recipient: { address: RECIPIENT.address, handle: "some_agent" } };

/** Fields whose every byte the verifier guards, with and without knowing the recipient. */
const GUARDED = ["body", "content_hash", "signature", "canonical_string", "from"] as const;
const GUARDED_BY_BINDING = ["in_reply_to", "content_type"] as const;

/** The text of a message, cut around the value of one field. */
function around(message: InboxMessage, field: keyof InboxMessage): [string, string, string] {
  const { [field]: value, ...rest } = message;
  return [`{"${field}":`, canonicalJson(value as JsonValue), `,${JSON.stringify(rest).slice(1)}`];
}

function sameValue(text: Uint8Array, message: InboxMessage): boolean {
  try {
    return canonicalJson(parseStrict(text)) === canonicalJson({ ...message } as never);
  } catch {
    return false;
  }
}

/** Puts each byte of a field's value to other values and asks for the verdict. */
async function expectGuarded(
  message: InboxMessage,
  field: keyof InboxMessage,
  options: VerifyMessageOptions,
  replacements: (byte: number) => number[],
): Promise<number> {
  const [head, value, tail] = around(message, field);
  const good = new TextEncoder().encode(head + value + tail);
  equal(await isGood(good, options), true);
  const first = head.length;
  const last = first + new TextEncoder().encode(value).length;
  let altered = 0;
  for (let i = first; i < last; i++) {
    for (const replacement of replacements(good[i]!)) {
      const text = good.slice();
      text[i] = replacement;
      if (replacement === good[i] || sameValue(text, message)) continue;
      equal(await isGood(text, options), false, new TextDecoder().decode(text));
      altered++;
    }
  }
  return altered;
}

const BODY = { text: 'a "quoted" line\né 😀', list: [1, 2.5, null, true], "": {} };

Deno.test("verifyMessage() notices every altered byte of the guarded fields, recipient or not", async () => {
  const near = (byte: number) => [byte ^ 1, byte ^ 0x20, 0x30, 0x31, 0x20, 0x41, 0x7a];
  for (const options of [{}, WITH_RECIPIENT]) {
    for (const field of GUARDED) {
      const message = signedMessage(BODY, 41, "text");
      const altered = await expectGuarded(message, field, options, near);
      equal(altered > 80, true, `${field}: only ${altered} alterations`);
    }
  }
});

Deno.test("verifyMessage() notices every altered byte of reply and content type with a recipient", async () => {
  const step = isLong ? 1 : 7;
  const every = (byte: number) =>
    Array.from({ length: Math.ceil(256 / step) }, (_, i) => (byte + i * step) & 255);
  for (const contentType of ["text", "json"] as const) {
    for (const inReplyTo of [null, 7, 1234567]) {
      for (const field of GUARDED_BY_BINDING) {
        const message = signedMessage("null", inReplyTo, contentType);
        await expectGuarded(message, field, WITH_RECIPIENT, every);
        for (const other of [null, 1, 7, 12345678, "text", "json"]) {
          if (other === message[field]) continue;
          const text = new TextEncoder().encode(JSON.stringify({ ...message, [field]: other }));
          equal(await isGood(text, WITH_RECIPIENT), false);
        }
      }
    }
  }
});

Deno.test("verifyMessage() notices one altered byte of any message", async () => {
  const body = fc.jsonValue({ stringUnit: "binary" }) as fc.Arbitrary<JsonValue>;
  const inReplyTo = fc.option(fc.integer({ min: 1 }));
  const contentType = fc.constantFrom("text" as const, "json" as const);
  const field = fc.constantFrom(...GUARDED, ...GUARDED_BY_BINDING);
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(body, inReplyTo, contentType).map((parts) => signedMessage(...parts)),
      field,
      fc.nat(),
      fc.nat(255),
      async (message, field, at, replacement) => {
        fc.pre(isStrict(message.body));
        const [head, value, tail] = around(message, field);
        const text = new TextEncoder().encode(head + value + tail);
        equal(await isGood(text, WITH_RECIPIENT), true);
        const size = new TextEncoder().encode(value).length;
        text[head.length + at % size] = replacement;
        fc.pre(!sameValue(text, message));
        equal(await isGood(text, WITH_RECIPIENT), false);
      },
    ),
    { numRuns: isLong ? 400 : 100 },
  );
});

Deno.test("verifyMessage() notices whatever other message a signature is put to", async () => {
  const one = signedMessage("one", null, "text");
  const two = signedMessage("two", null, "text");
  const { signature, canonical_string } = one;
  const verdicts = async (message: InboxMessage) => {
    const { signature, body } = await verifyMessage(message, WITH_RECIPIENT);
    return { signature, body };
  };
  deepEqual(await verdicts({ ...two, signature }), { signature: "invalid", body: "bound" });
  deepEqual(await verdicts({ ...two, canonical_string }), {
    signature: "invalid",
    body: "unbound",
  });
  deepEqual(await verdicts({ ...two, signature, canonical_string }), {
    signature: "valid",
    body: "unbound",
  });
});

function isStrict(body: JsonValue): boolean {
  try {
    parseStrict(canonicalJson(body));
    return true;
  } catch {
    return false;
  }
}
