import { requestIdentity } from "../client/used_timestamps.ts";
import { signRequest, type UnsignedRequest } from "../sign_request.ts";
import { UsageError } from "./failure.ts";
import { KEY, openKeys } from "./own_keys.ts";
import { readWhole } from "./read_input.ts";
import { wholeNumber } from "./readers.ts";
import { defineVerb, flag, option } from "./verb.ts";

/** `relay sign`. */
export const sign = defineVerb({
  name: "sign",
  summary: "sign a request, for another program to send",
  args: "METHOD PATH [FILE|-]",
  hint: "METHOD and PATH are such as GET /v1/whoami",
  about: `
FILE (or - for standard input) holds the body, byte for byte as it will be sent; without it there is
none. A query in PATH is left out: it is not signed. Printed are the three headers to send.

The relay accepts a signature for 300 seconds, and of two equal requests with the same timestamp
carries out one: each 'relay sign' of a POST or PATCH therefore takes the next unused second.`,
  options: {
    timestamp: option("T", "sign this Unix time in seconds", wholeNumber(0, 10 ** 15 - 1)),
    key: KEY,
    json: flag('print {"canonical_string": ..., "headers": {...}}'),
  },
  exit: "0, or 2 for wrong usage and a key file that does not open",
  example: 'relay sign GET /v1/whoami > headers && curl -H @headers "$RELAY_URL/v1/whoami"',
  async run({ host, values, args: [method, target, file], print }) {
    const { keys, state } = await openKeys(host, values.key);
    const body = file === undefined ? new Uint8Array(0) : await readWhole(host, file);
    const path = target.split("?", 1)[0]!;
    const nowSeconds = Math.floor(host.clock.now() / 1000);
    const changes = method !== "GET" && method !== "HEAD";
    const request = requestIdentity(keys.address, { method, path, body });
    // A wrong method or path must not use up a second, so it is signed once before.
    signed({ method, path, body, timestamp: nowSeconds }, keys.privateKey);
    const timestamp = values.timestamp ??
      (changes ? await state.usedTimestamps.claim(request, nowSeconds) : nowSeconds);
    const { canonicalString, headers } = signed({ method, path, body, timestamp }, keys.privateKey);
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    await print({ canonical_string: canonicalString, headers }, lines.join(""));
  },
});

function signed(request: UnsignedRequest, privateKey: Uint8Array) {
  try {
    return signRequest(request, privateKey);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new UsageError(
      "METHOD is uppercase, and PATH begins with / and is printable ASCII, as it will be sent",
    );
  }
}
