import {
  canonicalJson,
  canonicalString,
  contentHash,
  decodeAddress,
  encodeAddress,
  isStrictPublicKey,
  isWordNameOf,
  keyPairFromHex,
  parseCanonicalString,
  parseStrict,
  signRequest,
  verifyMessage,
  wordName,
} from "../../toolkit/mod.ts";
import { signatureVerifier } from "../../toolkit/verify_signature.ts";
import addresses from "../vectors/addresses.json" with { type: "json" };
import canonicalJsons from "../vectors/canonical_json.json" with { type: "json" };
import canonicalStrings from "../vectors/canonical_strings.json" with { type: "json" };
import speccheck from "../vectors/ed25519_speccheck.json" with { type: "json" };
import strictSignatures from "../vectors/ed25519_strict.json" with { type: "json" };
import messages from "../vectors/messages.json" with { type: "json" };
import names from "../vectors/names.json" with { type: "json" };
import rfc8032 from "../vectors/rfc8032.json" with { type: "json" };
import strictJson from "../vectors/strict_json.json" with { type: "json" };

/** One vector, ready to run on any platform: it rejects when the toolkit answers otherwise. */
export interface VectorCase {
  readonly name: string;
  run(): Promise<void>;
}

/**
 * All vectors of tests/vectors/ as cases. Nothing here belongs to a test runner or a platform, so
 * that Deno, Node and a browser run the very same checks.
 */
export function* vectorCases(): Generator<VectorCase, void> {
  yield* signatureCases();
  yield* jsonCases();
  yield* identityCases();
  yield* requestCases();
  yield* messageCases();
}

/** The platform's verifier, and the equation computed by the toolkit: both must agree. */
const VERIFIERS = {
  native: signatureVerifier(globalThis.crypto?.subtle),
  pure: signatureVerifier(undefined),
};

function* signatureCases(): Generator<VectorCase, void> {
  const groups = {
    "RFC 8032": rfc8032.signatures.map((vector) => ({ ...vector, valid: true })),
    speccheck: speccheck.signatures,
    strict: strictSignatures.signatures,
  };
  for (const [group, vectors] of Object.entries(groups)) {
    for (const { name, message_hex, signature_hex, public_key_hex, valid } of vectors) {
      for (const [kind, verify] of Object.entries(VERIFIERS)) {
        yield check(`verifySignature() ${kind}: ${group}: ${name}`, async () => {
          expect(await verify(hex(message_hex), hex(signature_hex), hex(public_key_hex)), valid);
        });
      }
    }
  }
  for (const { name, private_key_hex, public_key_hex } of rfc8032.signatures) {
    yield check(`keyPairFromHex() RFC 8032: ${name}`, () => {
      const { publicKey, privateKey, privateKeyHex } = keyPairFromHex(private_key_hex);
      expect(hexOf(publicKey), public_key_hex);
      expect([hexOf(privateKey), privateKeyHex], [private_key_hex, private_key_hex]);
    });
  }
  for (const { name, public_key_hex, strict } of strictSignatures.keys) {
    yield check(`isStrictPublicKey() ${name}`, () => {
      expect(isStrictPublicKey(hex(public_key_hex)), strict);
    });
  }
}

function* jsonCases(): Generator<VectorCase, void> {
  for (const { name, json, canonical, sha256 } of canonicalJsons.documents) {
    yield check(`canonicalJson() and contentHash() ${name}`, () => {
      expect(canonicalJson(parseStrict(json)), canonical);
      expect(contentHash(parseStrict(json)), sha256);
      expect(canonicalJson(parseStrict(canonical)), canonical);
    });
  }
  yield check(`canonicalJson() numbers`, () => {
    for (const { bits_hex, canonical } of canonicalJsons.numbers) {
      expect([bits_hex, canonicalJson(double(bits_hex))], [bits_hex, canonical]);
    }
  });
  for (const { name, bits_hex } of canonicalJsons.refused_numbers) {
    yield check(`canonicalJson() refuses ${name}`, () => {
      expect(codeOf(() => canonicalJson(double(bits_hex))), "not_json");
    });
  }
  for (const { name, text, canonical, depth_from } of strictJson.accepted) {
    yield check(`parseStrict() accepts ${name}`, () => {
      const depthFrom = depth_from === "members" ? "members" : "root";
      expect(canonicalJson(parseStrict(text, { depthFrom })), canonical);
      expect(canonicalJson(parseStrict(utf8(text), { depthFrom })), canonical);
    });
  }
  for (const { name, text, hex: bytes, code, offset, depth_from } of strictJson.refused) {
    yield check(`parseStrict() refuses ${name}`, () => {
      const depthFrom = depth_from === "members" ? "members" : "root";
      const inputs = bytes !== undefined
        ? [hex(bytes)]
        : text!.isWellFormed()
        ? [text!, utf8(text!)]
        : [text!];
      for (const input of inputs) {
        const error = errorOf(() => parseStrict(input, { depthFrom }));
        expect([error.code, error.position?.offset], [code, offset]);
      }
    });
  }
}

function* identityCases(): Generator<VectorCase, void> {
  for (const { public_key_hex, address } of addresses.valid) {
    yield check(`encodeAddress() and decodeAddress() ${address}`, () => {
      expect(encodeAddress(hex(public_key_hex)), address);
      expect(hexOf(decodeAddress(address)), public_key_hex);
    });
  }
  for (const { name, address, repeat, code } of addresses.invalid) {
    yield check(`decodeAddress() refuses ${name}`, () => {
      const text = address ?? repeat!.text.repeat(repeat!.times);
      expect(codeOf(() => decodeAddress(text)), code);
    });
  }
  for (const { public_key_hex, code } of addresses.keys_without_address) {
    yield check(`encodeAddress() refuses ${public_key_hex}`, () => {
      expect(codeOf(() => encodeAddress(hex(public_key_hex))), code);
    });
  }
  for (const { public_key_hex, words, names: derived } of names.derived) {
    yield check(`wordName() of ${public_key_hex}`, () => {
      expect(wordName(hex(public_key_hex), words.length - 2), words.join("-"));
      expect(wordName(hex(public_key_hex)), words.slice(0, 3).join("-"));
      for (const { adjectives, name } of derived) {
        expect(wordName(hex(public_key_hex), adjectives), name);
        expect(isWordNameOf(name, hex(public_key_hex)), true);
      }
    });
  }
  for (const { name, word_name, public_key_hex, is_name } of names.checks) {
    yield check(`isWordNameOf() ${name}`, () => {
      expect(isWordNameOf(word_name, hex(public_key_hex)), is_name);
    });
  }
}

function* requestCases(): Generator<VectorCase, void> {
  const { key, signed, malformed } = canonicalStrings;
  for (const { method, path, body_hex, timestamp, canonical_string, signature } of signed) {
    yield check(`canonicalString() and signRequest() ${canonical_string}`, () => {
      const request = { method, path, body: hex(body_hex), timestamp };
      expect(canonicalString(request), canonical_string);
      expect(parseCanonicalString(canonical_string), {
        method,
        path,
        bodyHash: canonical_string.split(":").at(-2),
        timestamp,
      });
      const answer = signRequest(request, hex(key.private_key_hex));
      expect(answer, {
        canonicalString: canonical_string,
        signature,
        headers: {
          "X-Relay-Pubkey": key.address,
          "X-Relay-Timestamp": String(timestamp),
          "X-Relay-Signature": signature,
        },
      });
    });
  }
  for (const { name, text } of malformed) {
    yield check(`parseCanonicalString() refuses ${name}`, () => {
      expect(parseCanonicalString(text) ?? null, null);
    });
  }
}

/** What a message case tells the verifier; all members are optional. */
interface VectorOptions {
  readonly recipient?: { address: string; handle?: string; word_name?: string };
  readonly from?: string;
  readonly request_hex?: string;
  readonly max_skew_seconds?: number;
}

function* messageCases(): Generator<VectorCase, void> {
  for (const vector of messages.cases) {
    const { name, message, message_text, options, report, error } = vector as MessageVector;
    yield check(`verifyMessage() ${name}`, async () => {
      const received = message_text === undefined ? message : JSON.parse(message_text);
      const answer = verifyMessage(received, verifierOptions(options));
      if (report !== undefined) return expect(await answer, report);
      const thrown = await answer.then(() => undefined, (reason) => reason);
      expect({ code: thrown?.code, field: thrown?.field }, error);
    });
  }
}

interface MessageVector {
  readonly name: string;
  readonly message?: unknown;
  readonly message_text?: string;
  readonly options: VectorOptions;
  readonly report?: unknown;
  readonly error?: { readonly code: string; readonly field: string };
}

function verifierOptions({ recipient, from, request_hex, max_skew_seconds }: VectorOptions) {
  return {
    recipient: recipient && {
      address: recipient.address,
      handle: recipient.handle,
      wordName: recipient.word_name,
    },
    from,
    request: request_hex === undefined ? undefined : hex(request_hex),
    maxSkewSeconds: max_skew_seconds,
  };
}

function check(name: string, run: () => void | Promise<void>): VectorCase {
  return { name, run: async () => await run() };
}

/** Compares as JSON, members in any order; undefined members do not count. */
function expect(actual: unknown, expected: unknown): void {
  const [got, wanted] = [actual, expected].map((value) => JSON.stringify(sorted(value)));
  if (got !== wanted) throw new Error(`got ${got}, expected ${wanted}`);
}

function sorted(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value ?? null;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([name, member]) => [name, sorted(member)]);
}

function errorOf(run: () => unknown): { code?: string; position?: { offset: number } } {
  try {
    run();
  } catch (thrown) {
    return thrown as { code?: string };
  }
  throw new Error("nothing was thrown");
}

function codeOf(run: () => unknown): string | undefined {
  return errorOf(run).code;
}

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function double(bits: string): number {
  return new DataView(hex(bits).slice().buffer).getFloat64(0);
}
