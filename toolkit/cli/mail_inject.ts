import { injectMail } from "../client/inject_mail.ts";
import { RELAY_EXIT_HELP, RELAY_OPTIONS, RELAY_OPTIONS_HELP, relayOptions } from "./connect.ts";
import { ExitCode } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { InputError } from "./input_error.ts";
import { parseOptions } from "./parse_options.ts";
import { jsonLine } from "./print_fields.ts";
import { printable } from "./printable.ts";
import { readWhole } from "./read_input.ts";
import type { Verb } from "./verb.ts";

const help = `Hand a received e-mail to the relay.

Usage: relay mail inject [FILE|-] --from ADDRESS --to ADDRESS [--to ...] [options]

For the operator's mail server: FILE (or standard input) holds the raw message as received. It is
signed with the secret that the relay knows as RELAY_MAIL_INBOUND_SECRET, which this command takes
from the same variable, or from a file. The same message twice is stored once.

A relay without mail, or without that secret, refuses.

Options:
  --from ADDRESS    the envelope sender; empty for a bounce
  --to ADDRESS      an envelope recipient; up to 100 times
  --client-ip IP    who delivered it to the mail server; SPF is checked against it
  --client-helo H   what that client called itself
  --secret-file F   a file that holds the secret
${RELAY_OPTIONS_HELP}
  --json            print {"accepted": [...], "rejected": [{"address", "code"}]}

${RELAY_EXIT_HELP}
When some of the recipients were accepted it is 0; the others stand in the output. A mail server
tries again after 5, and after 4 when the error is rate_limited or unavailable.

Example:
  relay mail inject --from "$SENDER" --to "$RECIPIENT" --client-ip "$CLIENT_ADDRESS" < message.eml
`;

const OPTIONS = {
  from: { type: "string" },
  to: { type: "string", multiple: true },
  "client-ip": { type: "string" },
  "client-helo": { type: "string" },
  "secret-file": { type: "string" },
  ...RELAY_OPTIONS,
} as const;

/** `relay mail inject`. */
export const mailInject: Verb = {
  name: "mail inject",
  summary: "hand a received e-mail to the relay",
  help,
  options: OPTIONS,
  async run(args, host) {
    const { values, positionals: [file] } = parseOptions(args, OPTIONS, 1);
    const { from, to = [] } = values;
    if (from === undefined || to.length === 0) {
      throw new InputError("--from ADDRESS and --to ADDRESS say whom it is from and for", "usage");
    }
    if (to.length > 100) throw new InputError("--to is for up to 100 recipients", "usage");
    const options = relayOptions(host, "mail inject", values);
    const secret = await readSecret(host, values["secret-file"]);
    const envelope = {
      from,
      to,
      client_ip: values["client-ip"],
      client_helo: values["client-helo"],
    };
    const message = new Uint8Array(await readWhole(host, file));
    const result = await withSecret(() => injectMail({ ...options, secret }, envelope, message));
    const lines = [
      ...result.accepted.map((address) => `accepted  ${printable(address)}\n`),
      ...result.rejected.map(({ address, code }) =>
        `rejected  ${printable(`${address}  ${code}`)}\n`
      ),
    ];
    await host.stdout(values.json ? jsonLine(result) : lines.join(""));
    return ExitCode.passed;
  },
};

async function readSecret(host: Host, file: string | undefined): Promise<string> {
  const secret = file === undefined
    ? host.env("RELAY_MAIL_INBOUND_SECRET")
    : new TextDecoder().decode(await readWhole(host, file));
  if (secret?.trim()) return secret.trim();
  throw new InputError(
    "there is no secret: set RELAY_MAIL_INBOUND_SECRET, or pass --secret-file F",
  );
}

async function withSecret<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new InputError(thrown.message);
  }
}
