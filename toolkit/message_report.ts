import type { Addressee } from "./recipient.ts";

/** The verdicts on a message: separate ones, never one boolean. */
export interface MessageReport {
  /** Whether the signed string has the form of a signed POST /v1/messages; absent: it is null. */
  readonly canonicalString: "ok" | "malformed" | "absent";
  /** Whether `signature` is the key's of `from` over the signed string. */
  readonly signature: "valid" | "invalid" | "not-checkable";
  /** Whether `from` is the address that the caller expects. */
  readonly sender: "pinned" | "mismatch" | "not-pinned";
  /** Whether `content_hash` is the body's. */
  readonly contentHash: "match" | "mismatch";
  /**
   * Whether body, content type and reply are proven to be those that the signed string covers. It
   * says nothing about who signed that string: `signature` does.
   */
  readonly body: "bound" | "unbound" | "not-checked";
  /** In which form the signed request addresses the recipient, when that is proven. */
  readonly addressee: Addressee | "unknown";
  /** What the sender's clock said; the relay's `created_at` minus that, in seconds. */
  readonly age: {
    readonly signedAt: string | null;
    readonly skewSeconds: number | null;
    /** Whether the skew is within the `maxSkewSeconds` asked for; null when it was not or cannot be. */
    readonly within: boolean | null;
  };
}
