/** The settings of a relay: what the environment says, checked once at start-up. */
import { base64 } from "@scure/base";
import { requireLocal } from "./local_mode.ts";
import { type MailConfig, parseMailConfig } from "./mail_config.ts";
import { parseOperatorContact } from "./operator_contact.ts";
import {
  booleanSetting,
  ConfigError,
  type Environment,
  type HostPort,
  integerSetting,
  isHost,
  optionalText,
  parseHostPort,
  urlSetting,
} from "./values.ts";
import { type Limits, parseLimits } from "./limits.ts";

export { ConfigError, type Environment } from "./values.ts";
export type { MailConfig } from "./mail_config.ts";

export interface Config {
  /** TCP port; 0 takes a free one. */
  port: number;
  host: string;
  /** The {base_url} of links and descriptions: an origin, without a path or a trailing slash. */
  baseUrl: string;
  /** False when baseUrl was derived from HOST and PORT. */
  baseUrlGiven: boolean;
  /** Folder of the embedded store, its lock and a generated custody key. */
  dataDir: string;
  /** A KV Connect server instead of the file. */
  kvUrl?: string;
  /** Further hosts that the KV server names for its data: the start permits them, nothing else uses them. */
  kvHosts: HostPort[];
  /** A KV server or Deno Deploy holds the store. The disk may then be an instance's own: no key is made on it. */
  hosted: boolean;
  /** Several relays may write the same store. */
  sharedStore: boolean;
  onDeploy: boolean;
  adminToken?: string;
  /** Where people reach the relay's operator: "mailto:..." or "https://...". */
  operatorContact?: string;
  /** 32 bytes each; the first encrypts, all decrypt. Empty when unset. */
  custodyKeys: Uint8Array[];
  /** Ids of custody keys that the operator has given up: what was encrypted under them stays shut. */
  lostCustodyKeys: string[];
  trustedProxyHops: number;
  requireKeyProof: boolean;
  /** False: a clock far behind the store is taken for right. */
  clockCheck: boolean;
  limits: Limits;
  mail: MailConfig;
}

const MIN_ADMIN_TOKEN_CHARACTERS = 32;
const CUSTODY_KEY_BYTES = 32;

/**
 * Configuration from environment variables; unset and empty ones take their defaults.
 * @throws ConfigError naming the variable and what is allowed; no message repeats a value, since
 * many are secrets
 */
export function parseConfig(env: Environment): Config {
  const port = integerSetting(env, "PORT", { min: 0, max: 65535, fallback: 8000 });
  const host = parseHost(env);
  const baseUrl = parseBaseUrl(env);
  const onDeploy = optionalText(env, "DENO_DEPLOY") !== undefined ||
    optionalText(env, "DENO_DEPLOYMENT_ID") !== undefined;
  const kvUrl = urlSetting(env, "RELAY_KV_URL", ["https:", "http:"])?.href;
  if (kvUrl !== undefined && optionalText(env, "DENO_KV_ACCESS_TOKEN") === undefined) {
    throw new ConfigError("DENO_KV_ACCESS_TOKEN", "must be set when RELAY_KV_URL is set");
  }
  const kvHosts = parseKvHosts(env);
  const hosted = onDeploy || kvUrl !== undefined;
  const sharedStore = booleanSetting(env, "RELAY_SHARED_STORE", false) || hosted;
  const mail = parseMailConfig(env);
  const operatorContact = parseOperatorContact(env);
  const config: Config = {
    port,
    host,
    baseUrl: baseUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    baseUrlGiven: baseUrl !== undefined,
    dataDir: optionalText(env, "RELAY_DATA_DIR") ?? (mail.local ? "./data-mail" : "./data"),
    ...(kvUrl === undefined ? {} : { kvUrl }),
    kvHosts,
    hosted,
    sharedStore,
    onDeploy,
    ...parseAdminToken(env),
    ...(operatorContact === undefined ? {} : { operatorContact }),
    custodyKeys: parseCustodyKeys(env),
    lostCustodyKeys: parseLostCustodyKeys(env),
    trustedProxyHops: integerSetting(env, "RELAY_TRUSTED_PROXY_HOPS", {
      min: 0,
      max: 32,
      fallback: 0,
    }),
    requireKeyProof: booleanSetting(env, "RELAY_REQUIRE_KEY_PROOF", false),
    clockCheck: parseClockCheck(env),
    limits: parseLimits(optionalText(env, "RELAY_LIMITS")),
    mail,
  };
  if (mail.local) requireLocal(config);
  return config;
}

function parseHost(env: Environment): string {
  const text = optionalText(env, "HOST") ?? "127.0.0.1";
  const host = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (!isHost(host)) {
    throw new ConfigError("HOST", "must be a host name or an IP address, such as 127.0.0.1");
  }
  return host;
}

function parseBaseUrl(env: Environment): string | undefined {
  const url = urlSetting(env, "RELAY_BASE_URL", ["https:", "http:"]);
  if (url === undefined) return undefined;
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" &&
    url.username === "" && url.password === "";
  if (!bare) {
    throw new ConfigError(
      "RELAY_BASE_URL",
      "must be scheme, host and port only, such as https://relay.example: no path, query or user",
    );
  }
  return url.origin;
}

const HTTPS_PORT = 443;

function parseKvHosts(env: Environment): HostPort[] {
  const text = optionalText(env, "RELAY_KV_HOSTS");
  if (text === undefined) return [];
  return text.split(",").map((part) => {
    const host = parseHostPort(part.trim(), HTTPS_PORT);
    if (host !== undefined) return host;
    throw new ConfigError(
      "RELAY_KV_HOSTS",
      "must be hosts with ports, such as data.example.org:443",
    );
  });
}

function parseAdminToken(env: Environment): { adminToken?: string } {
  const adminToken = optionalText(env, "RELAY_ADMIN_TOKEN");
  if (adminToken === undefined) return {};
  if (adminToken.length < MIN_ADMIN_TOKEN_CHARACTERS || !/^[\x21-\x7e]+$/.test(adminToken)) {
    throw new ConfigError(
      "RELAY_ADMIN_TOKEN",
      `must have at least ${MIN_ADMIN_TOKEN_CHARACTERS} characters, printable ASCII without spaces`,
    );
  }
  return { adminToken };
}

function parseClockCheck(env: Environment): boolean {
  const text = optionalText(env, "RELAY_CLOCK_CHECK") ?? "on";
  if (text !== "on" && text !== "off") {
    throw new ConfigError("RELAY_CLOCK_CHECK", 'must be "on" or "off"');
  }
  return text === "on";
}

function parseCustodyKeys(env: Environment): Uint8Array[] {
  const text = optionalText(env, "RELAY_CUSTODY_KEY");
  if (text === undefined) return [];
  return text.split(",").map((part) => {
    const key = decodeBase64(part.trim());
    if (key?.length !== CUSTODY_KEY_BYTES) {
      throw new ConfigError(
        "RELAY_CUSTODY_KEY",
        `must be base64 of exactly ${CUSTODY_KEY_BYTES} bytes, several separated by commas`,
      );
    }
    return key;
  });
}

function parseLostCustodyKeys(env: Environment): string[] {
  const text = optionalText(env, "RELAY_LOST_CUSTODY_KEYS");
  if (text === undefined) return [];
  return text.split(",").map((part) => {
    const keyId = part.trim();
    if (/^[0-9a-f]{16}$/.test(keyId)) return keyId;
    throw new ConfigError(
      "RELAY_LOST_CUSTODY_KEYS",
      "must be ids of custody keys as start-up prints them, 16 hex digits each, several separated by commas",
    );
  });
}

function decodeBase64(text: string): Uint8Array | undefined {
  try {
    return base64.decode(text);
  } catch {
    return undefined;
  }
}
