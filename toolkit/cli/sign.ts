import { requestIdentity } from "../client/used_timestamps.ts";
import { signRequest } from "../sign_request.ts";
import { openKeys } from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import { InputError } from "./input_error.ts";
import { parseNumber } from "./parse_number.ts";
import { parseOptions } from "./parse_options.ts";
import { jsonLine } from "./print_fields.ts";
import { readWhole } from "./read_input.ts";
import type { Verb } from "./verb.ts";

const help = `Sign a request, for another program to send.

Usage: relay sign METHOD PATH [FILE|-] [--timestamp T] [--key FILE] [--json]

FILE (or - for standard input) holds the body, byte for byte as it will be sent; without it there is
none. A query in PATH is left out: it is not signed. Printed are the three headers to send.

The relay accepts a signature for 300 seconds, and of two equal requests with the same timestamp
carries out one: each 'relay sign' of a POST or PATCH therefore takes the next unused second.

Options:
  --timestamp T     sign this Unix time in seconds
  --key FILE        the key file; else RELAY_KEY_FILE, else ~/.config/relay/key.json
  --json            print {"canonical_string": ..., "headers": {...}}

Exit status: 0, or 2 for wrong usage and a key file that does not open.

Example:
  relay sign GET /v1/whoami > headers && curl -H @headers "$RELAY_URL/v1/whoami"
`;

const OPTIONS = {
  timestamp: { type: "string" },
  key: { type: "string" },
  json: { type: "boolean" },
} as const;

/** `relay sign`. */
export const sign: Verb = {
  name: "sign",
  summary: "sign a request, for another program to send",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals: [method, target, file] } = parseOptions(args, OPTIONS, 3);
    if (method === undefined || target === undefined) {
      throw new InputError("METHOD and PATH are missing, such as GET /v1/whoami", "usage");
    }
    const given = parseNumber("--timestamp", values.timestamp, 0, 10 ** 15 - 1);
    const { keys, state } = await openKeys(host, values.key);
    const body = file === undefined ? new Uint8Array(0) : await readWhole(host, file);
    const path = target.split("?", 1)[0]!;
    const nowSeconds = Math.floor(host.clock.now() / 1000);
    const changes = method !== "GET" && method !== "HEAD";
    const request = requestIdentity(keys.address, { method, path, body });
    // A wrong method or path must not use up a second, so it is signed once before.
    signed({ method, path, body, timestamp: nowSeconds }, keys.privateKey);
    const timestamp = given ??
      (changes ? await state.usedTimestamps.claim(request, nowSeconds) : nowSeconds);
    const { canonicalString, headers } = signed({ method, path, body, timestamp }, keys.privateKey);
    await host.stdout(
      values.json
        ? jsonLine({ canonical_string: canonicalString, headers })
        : Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`).join(""),
    );
    return ExitCode.passed;
  },
};

function signed(request: Parameters<typeof signRequest>[0], privateKey: Uint8Array) {
  try {
    return signRequest(request, privateKey);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new InputError(
      "METHOD is uppercase, and PATH begins with / and is printable ASCII, as it will be sent",
      "usage",
    );
  }
}
