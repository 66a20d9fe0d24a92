import { type MessageReport, overall } from "../mod.ts";

/** What is said of one claim about a message. */
export interface Verdict {
  /** What it is about. */
  readonly claim: string;
  /** `open`: neither proven nor disproven. */
  readonly outcome: "holds" | "false" | "open";
  readonly words: string;
}

/** What all verdicts amount to. */
export type Outcome = "passed" | "false" | "not-bound";

/** What the verifier was given; tells which advice helps. */
export interface Given {
  readonly hasRecipient: boolean;
  readonly hasRequest: boolean;
}

/** What a report amounts to: something is false, or the body is not bound, or neither. */
export function outcomeOf(report: MessageReport): Outcome {
  if (overall(report) === "false") return "false";
  return report.body === "bound" ? "passed" : "not-bound";
}

/** Each verdict of a report in a sentence. */
export function describeVerdicts(report: MessageReport, given: Given): Verdict[] {
  return [
    { claim: "Signature", ...SIGNATURE[report.signature] },
    { claim: "Signer", ...SENDER[report.sender] },
    { claim: "Body", ...bodyVerdict(report, given) },
    { claim: "Content hash", ...CONTENT_HASH[report.contentHash] },
    { claim: "Signed string", ...CANONICAL_STRING[report.canonicalString] },
    { claim: "Time", ...timeVerdict(report.age) },
  ];
}

type Said = Omit<Verdict, "claim">;

const SIGNATURE: Readonly<Record<MessageReport["signature"], Said>> = {
  valid: {
    outcome: "holds",
    words: "The key in “from” signed exactly this “canonical_string”.",
  },
  invalid: {
    outcome: "false",
    words: "The key in “from” did not sign this “canonical_string”.",
  },
  "not-checkable": {
    outcome: "open",
    words: "Not checkable: “canonical_string” is null, so nothing says what was signed.",
  },
};

const SENDER: Readonly<Record<MessageReport["sender"], Said>> = {
  pinned: { outcome: "holds", words: "“from” is the sender's address that you entered." },
  mismatch: {
    outcome: "false",
    words: "“from” is not the sender's address that you entered.",
  },
  "not-pinned": {
    outcome: "open",
    words:
      "Not compared: you entered no sender's address. Anybody can make a key and sign with it.",
  },
};

const CONTENT_HASH: Readonly<Record<MessageReport["contentHash"], Said>> = {
  match: { outcome: "holds", words: "“content_hash” is the hash of this body." },
  mismatch: { outcome: "false", words: "“content_hash” is not the hash of this body." },
};

const CANONICAL_STRING: Readonly<Record<MessageReport["canonicalString"], Said>> = {
  ok: { outcome: "holds", words: "“canonical_string” is that of a sent message." },
  malformed: {
    outcome: "false",
    words:
      "“canonical_string” is not that of a sent message (POST /v1/messages). A signature made for " +
      "something else may have been put here.",
  },
  absent: { outcome: "open", words: "“canonical_string” is null." },
};

function bodyVerdict(report: MessageReport, given: Given): Said {
  if (report.body !== "bound") {
    return { outcome: "open", words: `Not bound to the signature: ${advice(report, given)}` };
  }
  const words = "Bound: body, content type and reply are those that the signed hash covers. " +
    ADDRESSEE[report.addressee];
  if (report.signature === "valid") return { outcome: "holds", words };
  return {
    outcome: "open",
    words: `${words} Since the signature does not hold, anybody can have written them.`,
  };
}

const ADDRESSEE: Readonly<Record<MessageReport["addressee"], string>> = {
  key: "It was addressed to the recipient's key.",
  "word-name": "It was addressed by a word name, which other keys can have too.",
  handle: "It was addressed by a handle; which key a handle means is only the relay's word.",
  unknown: "To whom it was addressed is not proven.",
};

function advice({ canonicalString, contentHash }: MessageReport, given: Given): string {
  if (canonicalString !== "ok") return "there is no signed hash that could bind it.";
  if (contentHash === "mismatch") {
    return "it does not fit its content hash, so it is not what the relay took in.";
  }
  if (!given.hasRecipient && !given.hasRequest) {
    return "enter the recipient's address, or add the signed request.";
  }
  if (!given.hasRequest) {
    return "no request rebuilt for this recipient has the signed hash. Enter the recipient's " +
      "handle or long word name too, or add the signed request: the relay gives it to sender and " +
      "recipient at /v1/messages/ID/signed-request.";
  }
  const other = given.hasRecipient
    ? "not this message's, or not to this recipient."
    : "not this message's.";
  return `the signed request that you added is ${other} Pasting can change bytes: choose it as a file.`;
}

function timeVerdict({ signedAt, skewSeconds, within }: MessageReport["age"]): Said {
  if (skewSeconds === null) return { outcome: "open", words: "No signed time." };
  const when = signedAt === null
    ? "The signer's clock said a time that no calendar has"
    : `The signer's clock said ${signedAt.replace("T", " ").replace(/\.000Z$/, " UTC")}`;
  const order = skewSeconds < 0 ? "after" : "before";
  const gap = `${Math.abs(skewSeconds)} s ${order} “created_at”`;
  if (within === null) return { outcome: "open", words: `${when}, ${gap}.` };
  return within
    ? { outcome: "holds", words: `${when}, ${gap}: within what you allowed.` }
    : { outcome: "false", words: `${when}, ${gap}: more than you allowed.` };
}

/** What no verdict proves. */
export const NOT_PROVEN: readonly string[] = [
  "Who stands behind a key. Compare the sender's address with one that you got elsewhere.",
  "That a handle or a word name belongs to a key. Only the relay says so.",
  "Whom the message was for, unless its body is bound and it was addressed to the recipient's key.",
  "When it was sent. The signed time is what the signer's clock said, created_at is the relay's word.",
  "That it is delivered for the first time, that none is missing, and the order. Drop repeats by " +
  "sender and signature.",
  "Through which relay it was sent.",
  "Anything about a body that is not bound.",
];
