import type { KeyPair } from "../generate_key_pair.ts";
import { signRequest } from "../sign_request.ts";
import type { HttpAnswer } from "./attempt.ts";
import { sleep } from "./clock.ts";
import type { Connection } from "./connection.ts";
import { ask, type Call } from "./exchange.ts";
import { requestIdentity, type UsedTimestamps } from "./used_timestamps.ts";

/**
 * How a call is signed:
 *
 * - `read`: any timestamp may be used again
 * - `change`: every try with the same timestamp, so that it is carried out once
 * - `anew`: each try with a timestamp of its own
 */
export type SigningRule = "read" | "change" | "anew";

/** The signer, and the timestamps so far. */
export interface Signer {
  readonly keys: KeyPair;
  readonly usedTimestamps: UsedTimestamps;
}

/** A signature that is this old is not sent again: the relay accepts 300 s, clocks differ. */
const TOO_OLD_SECONDS = 240;

const NO_BYTES = new Uint8Array(0);

/**
 * The headers of each try of a call.
 *
 * When a signature has become too old, a call that certainly was not carried out is signed again. A
 * call that may have been carried out is not tried again.
 */
export function signing(
  connection: Connection,
  { keys, usedTimestamps }: Signer,
  rule: SigningRule,
  { method, path, body = NO_BYTES, signal }: Omit<Call, "headers">,
): NonNullable<Call["headers"]> {
  const { clock } = connection;
  const nowSeconds = () => Math.floor(clock.now() / 1000);
  let timestamp: number | undefined;

  async function unusedTimestamp(): Promise<number> {
    const request = requestIdentity(keys.address, { method, path, body });
    const claimed = await usedTimestamps.claim(request, nowSeconds());
    // Many equal requests at once: the last ones are signed for seconds yet to come.
    await sleep(clock, (claimed - nowSeconds() - TOO_OLD_SECONDS) * 1000, signal);
    return claimed;
  }

  return async (isUnclear) => {
    const isOld = timestamp !== undefined && nowSeconds() - timestamp > TOO_OLD_SECONDS;
    if (rule === "read") {
      if (timestamp === undefined || isOld) timestamp = nowSeconds();
    } else if (timestamp === undefined || rule === "anew" || (isOld && !isUnclear)) {
      timestamp = await unusedTimestamp();
    } else if (isOld) return undefined;
    return { ...signRequest({ method, path, body, timestamp }, keys.privateKey).headers };
  };
}

/**
 * Signs a call and asks the relay.
 *
 * @returns the answer, a success
 * @throws as {@linkcode ask}
 */
export async function askSigned(
  connection: Connection,
  signer: Signer,
  rule: SigningRule,
  call: Omit<Call, "headers">,
): Promise<HttpAnswer> {
  return await ask(connection, { ...call, headers: signing(connection, signer, rule, call) });
}
