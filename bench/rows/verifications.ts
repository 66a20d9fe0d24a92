/** Whole messages a second, in one thread, against the signature alone by a bare library. */
import type { Row } from "../row.ts";
import { startChild } from "../servers/child.ts";

const BATCH = 5_000;
/** In JavaScript alone each takes a millisecond. */
const PURE_BATCH = 1_000;

/** By WebCrypto, against node:crypto: hashing, binding and the way to another thread cost as much again. */
export const nativeVerifications: Row = {
  id: "verify-native",
  title: `verifyMessage over ${BATCH.toLocaleString("en")} messages against bare node:crypto`,
  unit: "messages/s",
  target: { rule: "at least", ratio: 0.4 },
  prepare: () => verifiers("native", BATCH),
};

/** Where there is no WebCrypto, against @noble/ed25519: the strict rule must not cost more than it. */
export const pureVerifications: Row = {
  id: "verify-pure",
  title: `verifyMessage without WebCrypto over ${
    PURE_BATCH.toLocaleString("en")
  } messages against bare @noble/ed25519`,
  unit: "messages/s",
  target: { rule: "at least", ratio: 0.9 },
  slow: true,
  prepare: () => verifiers("pure", PURE_BATCH),
};

async function verifiers(path: "native" | "pure", messages: number) {
  const child = await startChild("verifier.ts", { path, messages });
  return {
    ours: () => child.ask<number>("whole"),
    reference: () => child.ask<number>("bare"),
    close: () => child.stop(),
  };
}
