import { hexToBytes } from "@noble/hashes/utils.js";

/** The part of WebCrypto that verifying needs. */
export type Subtle = Pick<SubtleCrypto, "importKey" | "verify">;

/** Checks a signature whose form has been checked; throws where the platform cannot. */
export type NativeVerify = (
  message: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  publicKey: Uint8Array<ArrayBuffer>,
) => Promise<boolean>;

/**
 * Three signatures by a key of mixed order. The first satisfies the cofactorless equation, the
 * other two only the cofactored one (speccheck vectors 3, 4 and 5).
 */
const MIXED_ORDER_KEY = "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d";
const MIXED_ORDER = [
  {
    valid: true,
    message: "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
    signature: "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f" +
      "87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
  },
  {
    valid: false,
    message: "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
    signature: "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512" +
      "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
  },
  {
    valid: false,
    message: "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
    signature: "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7" +
      "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
  },
];

/**
 * Makes a verifier of the platform's WebCrypto, if it knows Ed25519 and its equation is the
 * cofactorless one. Otherwise there is none, and the caller uses {@linkcode pureVerify}.
 *
 * @param subtle `crypto.subtle`; undefined where there is none (a page without TLS)
 */
export async function nativeVerifier(
  subtle: Subtle | undefined,
): Promise<NativeVerify | undefined> {
  if (subtle === undefined) return undefined;
  const verify: NativeVerify = async (message, signature, publicKey) => {
    const key = await subtle.importKey("raw", publicKey, "Ed25519", false, ["verify"]);
    return await subtle.verify("Ed25519", key, signature, message);
  };
  try {
    for (const { valid, message, signature } of MIXED_ORDER) {
      const key = hexToBytes(MIXED_ORDER_KEY);
      if (await verify(hexToBytes(message), hexToBytes(signature), key) !== valid) return undefined;
    }
    return verify;
  } catch {
    return undefined;
  }
}
