/** The settings of outbound mail, the mail area and its sign-in. */
import ipaddr from "ipaddr.js";
import {
  decodeInboundSecret,
  MIN_INBOUND_SECRET_BYTES,
} from "../../../toolkit/client/inbound_secret.ts";
import type { DnsServer } from "../../../toolkit/mail/ask_dns.ts";
import { MIN_DKIM_KEY_BITS, readDkimKey } from "../../../toolkit/node/dkim_key.ts";
import { GOOGLE_JWKS_URL } from "./google_jwks_url.ts";
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

/** The next hop of outbound mail. */
export interface SmtpConfig extends HostPort {
  /** True for smtps://: TLS from the first byte. */
  secure: boolean;
  user?: string;
  password?: string;
}

/** An address, and how many of its first bits count. */
export type AddressRange = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

export interface MailConfig {
  /** Absent when RELAY_SMTP_URL is unset. */
  smtp?: SmtpConfig;
  /** The relay's own sender; absent when RELAY_MAIL_FROM is unset. */
  from?: { name: string; address: string };
  /** Path of a PEM file trusted for the next hop. */
  smtpCaFile?: string;
  /** Domain of mail inboxes, lowercase. */
  domain?: string;
  /** Where the embedded SMTP receiver listens. */
  listen?: HostPort;
  /** Paths of the receiver's PEM certificate chain and key. */
  tls?: { certFile: string; keyFile: string };
  /** Peers of the receiver that say by the PROXY protocol whose connection they pass on. */
  proxies: readonly AddressRange[];
  /** Secret of the inbound HTTP gateway, decoded; at least 24 bytes. */
  inboundSecret?: Uint8Array;
  /** RSA key of at least 2,048 bits as PKCS#8 PEM, and the selector it is published under. */
  dkim?: { privateKeyPem: string; selector: string };
  /** Where postmaster@ and abuse@ go; RELAY_MAIL_FROM unless set. */
  postmaster?: string;
  /** Concurrent connections to the next hop. */
  connections: number;
  /** Own bounce addresses as envelope senders. */
  bounces: boolean;
  /** Resolvers for SPF, DKIM, DMARC and webhooks; empty for the system's. */
  dnsServers: DnsServer[];
  /** Domains, lowercased, whose ARC seals count. */
  trustedSealers: readonly string[];
  googleClientId?: string;
  googleJwksUrl: string;
  allowLoopbackWebhooks: boolean;
  /** False: events of mail are posted to nobody, and the process needs no right to reach every host. */
  webhooks: boolean;
  /** The runtime is told to use a proxy, which would hide from the relay whom it reaches. */
  envProxy: boolean;
  /** Local mode: mail is captured in memory and goes nowhere. */
  local: boolean;
}

const SUBMISSION_PORT = 587;
const SUBMISSIONS_PORT = 465;
const DNS_PORT = 53;
/** Two are for notices, and mail needs one. */
const CONNECTIONS = { min: 3, max: 100, fallback: 10 };
/** Defaults of local mode; names that no resolver knows (RFC 2606). */
const LOCAL_DOMAIN = "agents.test";
const LOCAL_FROM = { name: "", address: "relay@relay.test" };

/**
 * Mail settings from environment variables.
 * @throws ConfigError naming the variable and what is allowed, never the value
 */
export function parseMailConfig(env: Environment): MailConfig {
  const local = booleanSetting(env, "RELAY_MAIL_DEV", false);
  const from = parseFrom(env) ?? (local ? LOCAL_FROM : undefined);
  const domain = parseDomain(env) ?? (local ? LOCAL_DOMAIN : undefined);
  const listen = parseListen(env);
  const postmaster = parseAddress(env, "RELAY_MAIL_POSTMASTER") ?? from?.address;
  if (listen !== undefined) requireElsewhere(postmaster, domain);
  return {
    ...present("smtp", parseSmtpUrl(env)),
    ...present("from", from),
    ...present("smtpCaFile", optionalText(env, "RELAY_SMTP_CA")),
    ...present("domain", domain),
    ...present("listen", listen),
    ...present("tls", parseTls(env)),
    proxies: parseProxies(env),
    ...present("inboundSecret", parseInboundSecret(env)),
    ...present("dkim", parseDkim(env)),
    ...present("postmaster", postmaster),
    connections: integerSetting(env, "RELAY_SMTP_CONNECTIONS", CONNECTIONS),
    bounces: booleanSetting(env, "RELAY_MAIL_BOUNCES", true),
    dnsServers: parseDnsServers(env),
    trustedSealers: parseTrustedSealers(env),
    ...present("googleClientId", parseGoogleClientId(env)),
    googleJwksUrl: urlSetting(env, "RELAY_GOOGLE_JWKS_URL", ["https:", "http:"])?.href ??
      GOOGLE_JWKS_URL,
    allowLoopbackWebhooks: booleanSetting(env, "RELAY_ALLOW_LOOPBACK_WEBHOOKS", local),
    webhooks: booleanSetting(env, "RELAY_WEBHOOKS", true),
    envProxy: !["0", "false"].includes(optionalText(env, "NODE_USE_ENV_PROXY") ?? "0"),
    local,
  };
}

function present<K extends string, V>(name: K, value: V | undefined): { [P in K]?: V } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: V };
}

function parseSmtpUrl(env: Environment): SmtpConfig | undefined {
  const variable = "RELAY_SMTP_URL";
  const url = urlSetting(env, variable, ["smtp:", "smtps:"]);
  if (url === undefined) return undefined;
  const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
  const bare = (url.pathname === "" || url.pathname === "/") && url.search === "" &&
    url.hash === "";
  const login = [url.username, url.password].map(decodePercent);
  const form = "must look like smtp://user:password@host:port or smtps://..., user and password " +
    "percent-encoded and both or neither given";
  if (!isHost(host) || !bare || login.includes(undefined) || url.port === "0") {
    throw new ConfigError(variable, form);
  }
  const [user, password] = login as [string, string];
  if ((user === "") !== (password === "")) throw new ConfigError(variable, form);
  const secure = url.protocol === "smtps:";
  const port = url.port === "" ? (secure ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(url.port);
  return { host, port, secure, ...(user === "" ? {} : { user, password }) };
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** An address of the operator's own: printable ASCII, one @, a host name behind it. */
export function isAddress(text: string): boolean {
  const match = /^[^\s"(),:;<>@[\\\]]{1,64}@([^@:]+)$/.exec(text);
  return match !== null && text.length <= 320 && /^[\x21-\x7e]+$/.test(text) && isHost(match[1]!);
}

function parseAddress(env: Environment, variable: string): string | undefined {
  const text = optionalText(env, variable);
  if (text !== undefined && !isAddress(text)) {
    throw new ConfigError(variable, "must be one e-mail address, such as postmaster@example.org");
  }
  return text;
}

function parseFrom(env: Environment): MailConfig["from"] {
  const text = optionalText(env, "RELAY_MAIL_FROM");
  if (text === undefined) return undefined;
  const named = /^(?:"([^"\\\r\n]*)"\s*|([^"<>\\\r\n]*))<([^<>]*)>$/.exec(text);
  const address = named?.[3] ?? text;
  if (!isAddress(address)) {
    throw new ConfigError(
      "RELAY_MAIL_FROM",
      "must be an e-mail address, such as relay@example.org or Relay <relay@example.org>",
    );
  }
  return { name: (named?.[1] ?? named?.[2] ?? "").trim(), address };
}

function parseDomain(env: Environment): string | undefined {
  const domain = optionalText(env, "RELAY_MAIL_DOMAIN")?.toLowerCase();
  if (domain !== undefined && !(isHost(domain) && /\.[a-z0-9-]*[a-z][a-z0-9-]*$/.test(domain))) {
    throw new ConfigError(
      "RELAY_MAIL_DOMAIN",
      "must be a domain of at least two labels, such as mail.example.org",
    );
  }
  return domain;
}

function parseListen(env: Environment): HostPort | undefined {
  const text = optionalText(env, "RELAY_MAIL_LISTEN");
  if (text === undefined) return undefined;
  const listen = parseHostPort(text);
  if (listen === undefined) {
    throw new ConfigError("RELAY_MAIL_LISTEN", "must be host:port, such as 0.0.0.0:25 or [::]:25");
  }
  return listen;
}

function parseProxies(env: Environment): AddressRange[] {
  const ranges = optionalText(env, "RELAY_MAIL_PROXY")?.split(",") ?? [];
  return ranges.map((part) => {
    const text = part.trim();
    const [given = "", ...bits] = text.split("/");
    if (ipaddr.IPv4.isValidFourPartDecimal(given) || ipaddr.IPv6.isValid(given)) {
      const address = ipaddr.process(given);
      const wholeBits = address.kind() === "ipv4" ? 32 : 128;
      if (bits.length === 0) return [address, wholeBits];
      // A peer of IPv4 counts as one, even where it comes to a socket of IPv6.
      const isMapped = address.kind() === "ipv4" && given.includes(":");
      const range = ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : null;
      if (range !== null && !isMapped) return range;
      if (range !== null && range[1] >= 96) return [address, range[1] - 96];
    }
    throw new ConfigError(
      "RELAY_MAIL_PROXY",
      "must be IP addresses or ranges of them, such as 127.0.0.1,10.0.0.0/24,fd00::/64",
    );
  });
}

/** What the receiver passes on to the postmaster must not come back to it. */
function requireElsewhere(postmaster: string | undefined, domain: string | undefined): void {
  const host = postmaster?.slice(postmaster.lastIndexOf("@") + 1).toLowerCase();
  if (host === undefined || host !== domain) return;
  throw new ConfigError(
    "RELAY_MAIL_POSTMASTER",
    "must be an address outside RELAY_MAIL_DOMAIN when RELAY_MAIL_LISTEN is set: the receiver passes mail for postmaster@ on to it; unset, it is RELAY_MAIL_FROM",
  );
}

function parseTls(env: Environment): MailConfig["tls"] {
  const certFile = optionalText(env, "RELAY_MAIL_TLS_CERT");
  const keyFile = optionalText(env, "RELAY_MAIL_TLS_KEY");
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined) {
    throw new ConfigError("RELAY_MAIL_TLS_CERT", "must be set when RELAY_MAIL_TLS_KEY is set");
  }
  if (keyFile === undefined) {
    throw new ConfigError("RELAY_MAIL_TLS_KEY", "must be set when RELAY_MAIL_TLS_CERT is set");
  }
  return { certFile, keyFile };
}

function parseInboundSecret(env: Environment): Uint8Array | undefined {
  const text = optionalText(env, "RELAY_MAIL_INBOUND_SECRET");
  if (text === undefined) return undefined;
  const secret = decodeInboundSecret(text);
  if (secret !== null) return secret;
  throw new ConfigError(
    "RELAY_MAIL_INBOUND_SECRET",
    `must be base64 of at least ${MIN_INBOUND_SECRET_BYTES} bytes, with or without whsec_ before it`,
  );
}

function parseDkim(env: Environment): MailConfig["dkim"] {
  const key = optionalText(env, "RELAY_MAIL_DKIM_KEY");
  const selector = optionalText(env, "RELAY_MAIL_DKIM_SELECTOR")?.toLowerCase();
  if (key === undefined && selector === undefined) return undefined;
  if (key === undefined) {
    throw new ConfigError("RELAY_MAIL_DKIM_KEY", "must be set when RELAY_MAIL_DKIM_SELECTOR is");
  }
  if (selector === undefined || !isHost(selector) || selector.includes(":")) {
    throw new ConfigError(
      "RELAY_MAIL_DKIM_SELECTOR",
      "must be the DNS label the DKIM key is published under, and set when RELAY_MAIL_DKIM_KEY is",
    );
  }
  const privateKeyPem = readDkimKey(key);
  if (privateKeyPem !== null) return { privateKeyPem, selector };
  throw new ConfigError(
    "RELAY_MAIL_DKIM_KEY",
    `must be an RSA key of at least ${MIN_DKIM_KEY_BITS} bits, as PKCS#8 PEM or base64 of its DER`,
  );
}

function parseDnsServers(env: Environment): DnsServer[] {
  const text = optionalText(env, "RELAY_DNS_SERVERS");
  if (text === undefined) return [];
  return text.split(",").map((part) => {
    const [, tcp, address] = /^(tcp:)?(.*)$/s.exec(part.trim())!;
    const server = parseHostPort(address!, DNS_PORT);
    if (server === undefined || !/^[0-9.]+$|:/.test(server.host)) {
      throw new ConfigError(
        "RELAY_DNS_SERVERS",
        "must be IP addresses with ports, such as 127.0.0.1:53,[::1]:53; tcp:127.0.0.1:53 asks over TCP alone",
      );
    }
    return tcp === undefined ? server : { ...server, tcp: true };
  });
}

function parseTrustedSealers(env: Environment): string[] {
  const names = optionalText(env, "RELAY_MAIL_TRUSTED_SEALERS")?.split(",") ?? [];
  return names.map((part) => {
    const name = part.trim().toLowerCase();
    if (/^(?=.{1,253}$)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+$/.test(name)) return name;
    throw new ConfigError(
      "RELAY_MAIL_TRUSTED_SEALERS",
      "must be domains as they stand in d= of ARC-Seal, such as google.com,lists.example.org",
    );
  });
}

function parseGoogleClientId(env: Environment): string | undefined {
  const clientId = optionalText(env, "RELAY_GOOGLE_CLIENT_ID");
  if (clientId !== undefined && !/^[\x21-\x7e]{1,255}$/.test(clientId)) {
    throw new ConfigError(
      "RELAY_GOOGLE_CLIENT_ID",
      "must be the OAuth client id: printable ASCII without spaces",
    );
  }
  return clientId;
}
