/** The received chain of a mail (ARC, RFC 8617), by mailauth; part of the worker. */
import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { arc as verifyChain } from "mailauth/lib/arc/index.js";
import dkim from "mailauth/lib/dkim/verify.js";
import type { ArcSet } from "./arc_chain.ts";
import { readArcChain } from "./arc_chain.ts";
import { keyResolver, type Lookup } from "./dns_for_library.ts";
import { relaxedBody } from "./relaxed_body.ts";
import type { SplitMessage } from "./split_message.ts";

export interface ArcFinding {
  result: "none" | "pass" | "fail";
  /** Sets of a chain that passes, the first sealer's first. */
  sets: readonly ArcSet[];
}

/** What the library's types leave out of a chain that it has read. */
interface LibraryChain {
  chain:
    | false
    | { "arc-seal": { parsed: { a: { value: string } }; algorithm?: string; signAlgo?: string } }[];
}

const NONE: ArcFinding = { result: "none", sets: [] };
const FAIL: ArcFinding = { result: "fail", sets: [] };

/**
 * Whether all seals of a mail hold, and the newest signature over the mail itself.
 * @param minKeyBits shorter keys are no keys
 * @param read told once when the bytes of the mail are not needed any more
 */
export async function checkArc(
  split: SplitMessage,
  { nowMs, lookup, minKeyBits }: { nowMs: number; lookup: Lookup; minKeyBits: number },
  read: () => void,
): Promise<ArcFinding> {
  const sets = split.arc === null ? null : readArcChain(split.arc);
  const isWhole = sets !== null && sets.length > 0 && !split.hasDoubledField;
  if (!isWhole) {
    read();
    return split.arc?.length === 0 ? NONE : FAIL;
  }
  const last = sets.at(-1)!;
  // Asked for at once, so that a name that is slow to answer keeps nothing from another.
  for (const { sealer, selector } of sets) void lookup(`${selector}._domainkey.${sealer}`, "TXT");
  void lookup(`${last.signerSelector}._domainkey.${last.signer}`, "TXT");
  const body = last.bodyForm === "relaxed" ? relaxedBody(split.body) : split.body;
  const chunks = [split.arcHead(), body].filter(({ length }) => length > 0)
    .map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const input = Readable.from(chunks);
  input.once("end", read);
  const options = {
    resolver: keyResolver(lookup),
    sender: "nobody@invalid",
    minBitLength: minKeyBits,
    curTime: new Date(nowMs),
  };
  try {
    const { arc } = await dkim.dkimVerify(input, options) as unknown as { arc: LibraryChain };
    // The library says how the newest seal is signed, and verifies the others without knowing it.
    for (const { "arc-seal": seal } of arc.chain || []) {
      seal.algorithm = seal.parsed.a.value.toLowerCase();
      seal.signAlgo = seal.algorithm.split("-")[0];
    }
    const data = arc as unknown as Parameters<typeof verifyChain>[0];
    const { status } = await verifyChain(data, options);
    return status.result === "pass" ? { result: "pass", sets } : FAIL;
  } catch {
    // It throws for what strangers wrote.
    return FAIL;
  }
}
