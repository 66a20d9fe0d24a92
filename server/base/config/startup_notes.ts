/** What start-up tells the operator: what is on, what is off and why. */
import type { Config } from "./config.ts";

/** What only the running process knows. */
export interface StartupFacts {
  address: string;
  pid: number;
  version: string;
  /** From OpenedStore. */
  store: string;
}

/** Notes in lines of "name  what"; none holds a secret. */
export function startupNotes(config: Config, facts: StartupFacts): string[] {
  return [
    `relay ${facts.version} listening on ${facts.address}`,
    startupNote("pid", `${facts.pid} (send SIGTERM or SIGINT to this one)`),
    startupNote("base URL", baseUrlNote(config)),
    startupNote("store", facts.store),
    startupNote(
      "admin",
      config.adminToken === undefined
        ? "off: RELAY_ADMIN_TOKEN is unset, admin routes answer 401"
        : "on",
    ),
    startupNote("key proof", keyProofNote(config)),
    startupNote("proxies", proxyNote(config)),
    startupNote("digests", digestNote(config)),
  ];
}

/** One line of what start-up tells: the name of a part and what is on or off. */
export function startupNote(name: string, what: string): string {
  return `  ${name.padEnd(11)}${what}`;
}

function baseUrlNote({ baseUrl, baseUrlGiven }: Config): string {
  return baseUrlGiven
    ? baseUrl
    : `${baseUrl} (RELAY_BASE_URL is unset: links work on this machine only)`;
}

function keyProofNote({ requireKeyProof, hosted, baseUrlGiven }: Config): string {
  if (requireKeyProof) return "required: registrations must be signed";
  const optional = "optional: registrations need not be signed";
  return hosted || baseUrlGiven
    ? `${optional}; RELAY_REQUIRE_KEY_PROOF=true is recommended for a public relay`
    : optional;
}

function proxyNote({ trustedProxyHops }: Config): string {
  return trustedProxyHops === 0
    ? "none trusted: X-Forwarded-For is ignored"
    : `${trustedProxyHops} trusted: addresses come from X-Forwarded-For`;
}

function digestNote(config: Config): string {
  const { smtp, from, local } = config.mail;
  if (local) return "configured: captured, as all mail in local mode";
  if (smtp !== undefined && from !== undefined) return "configured";
  return `off: ${unset(config, ["RELAY_SMTP_URL", "RELAY_MAIL_FROM"])}`;
}

function unset({ mail }: Config, variables: readonly string[]): string {
  const present: Record<string, boolean> = {
    RELAY_SMTP_URL: mail.smtp !== undefined,
    RELAY_MAIL_FROM: mail.from !== undefined,
    RELAY_MAIL_DOMAIN: mail.domain !== undefined,
  };
  const missing = variables.filter((variable) => !present[variable]);
  if (missing.length === 0) return "";
  return `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} unset`;
}
