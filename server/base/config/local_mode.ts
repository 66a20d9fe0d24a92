/** What local mode rules out: it hands no mail out, and shows captured mail to anybody who reaches it. */
import { isLoopback } from "./loopback.ts";
import { ConfigError } from "./values.ts";

/** The settings that decide whether a relay is this machine's own. */
export interface LocalSettings {
  host: string;
  baseUrl: string;
  kvUrl?: string;
  onDeploy: boolean;
  trustedProxyHops: number;
  mail: { smtp?: unknown; listen?: { host: string } };
}

/**
 * Makes sure that a relay in local mode (RELAY_MAIL_DEV) is reached from its machine alone and has no
 * next hop (docs/operations.md, "Local mode").
 * @throws ConfigError naming the variable and what to do
 */
export function requireLocal(config: LocalSettings): void {
  const { hostname } = new URL(config.baseUrl);
  const broken: [boolean, string, string][] = [
    [
      !isLoopback(config.host.toLowerCase()),
      "HOST",
      "be this machine's own address, such as 127.0.0.1,",
    ],
    [
      !isLoopback(hostname.replace(/^\[(.*)\]$/, "$1")),
      "RELAY_BASE_URL",
      "be unset, or name this machine, such as http://localhost:8000,",
    ],
    [config.mail.smtp !== undefined, "RELAY_SMTP_URL", "be unset"],
    [
      config.mail.listen !== undefined && !isLoopback(config.mail.listen.host.toLowerCase()),
      "RELAY_MAIL_LISTEN",
      "be unset, or this machine's own address, such as 127.0.0.1:2525,",
    ],
    [config.kvUrl !== undefined, "RELAY_KV_URL", "be unset"],
    [config.trustedProxyHops > 0, "RELAY_TRUSTED_PROXY_HOPS", "be 0"],
  ];
  if (config.onDeploy) {
    throw new ConfigError(
      "RELAY_MAIL_DEV",
      "must be unset on Deno Deploy: captured mail would be open to everybody",
    );
  }
  for (const [isBroken, variable, rule] of broken) {
    if (!isBroken) continue;
    throw new ConfigError(
      variable,
      `must ${rule} while RELAY_MAIL_DEV is true: in local mode mail goes nowhere, and is shown to whoever reaches the relay; for real mail unset RELAY_MAIL_DEV`,
    );
  }
}
