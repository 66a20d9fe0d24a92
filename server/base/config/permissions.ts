/**
 * What a relay of a configuration may do, and how it is run. Nothing but the project's own code is
 * imported here, since what this says becomes permissions: a library could give itself more.
 */
import { type Environment, optionalText } from "./config_error.ts";
import { deniedRanges } from "./denied_ranges.ts";
import { GOOGLE_JWKS_URL } from "./google_jwks_url.ts";
import { RESOLV_CONF, systemNameservers } from "../../../toolkit/mail/resolv_conf.ts";
import { SETTING_NAMES } from "./setting_names.ts";

/** Settings that decide on permissions: what the program that prints them reads. */
export const DECIDING_SETTINGS: readonly string[] = [
  "HOST",
  "PORT",
  "RELAY_ALLOW_LOOPBACK_WEBHOOKS",
  "RELAY_DATA_DIR",
  "RELAY_DNS_SERVERS",
  "RELAY_GOOGLE_CLIENT_ID",
  "RELAY_GOOGLE_JWKS_URL",
  "RELAY_KV_HOSTS",
  "RELAY_KV_URL",
  "RELAY_MAIL_DEV",
  "RELAY_MAIL_DOMAIN",
  "RELAY_MAIL_FROM",
  "RELAY_MAIL_LISTEN",
  "RELAY_MAIL_TLS_CERT",
  "RELAY_MAIL_TLS_KEY",
  "RELAY_SMTP_CA",
  "RELAY_SMTP_URL",
  "RELAY_WEBHOOKS",
];

/** The file of settings in the working directory. */
export const ENV_FILE = ".env";

/**
 * How the runtime collects garbage, as arguments of `deno run`. By itself V8 lets a small heap grow
 * fourfold before it collects: a relay of 50 MiB held 250. Two and a half times hold 120 MiB less
 * (docs/adr/0045-caches-and-the-heap.md).
 */
export const RUNTIME_FLAGS: readonly string[] = ["--v8-flags=--heap-growing-percent=150"];

const DNS_PORT = 53;
/** Where answers of DNS come over UDP: any free port, by itself, of both families. */
const DNS_ANSWERS = "[::]:0";

/**
 * Folders of the modules of the workers of mail, from the project's: a worker's modules, unlike the
 * relay's own, need the right to read them (docs/adr/0027). They hold the program alone, no data.
 */
export const WORKER_MODULES: readonly string[] = ["server", "toolkit"];

/**
 * Arguments of `deno run` for these settings. Modules need no permission, except a worker's;
 * the mail area, while it is off, reaches no host and has no worker. A malformed setting adds nothing:
 * start-up refuses it.
 *
 * @param resolvConf text of the file that names the system's DNS servers; "" where there is none
 */
export function permissionFlags(env: Environment, resolvConf = ""): string[] {
  const embedded = optionalText(env, "RELAY_KV_URL") === undefined;
  const dataDir = embedded
    ? [optionalText(env, "RELAY_DATA_DIR") ?? (isLocal(env) ? "data-mail" : "data")]
    : [];
  const named = ["RELAY_SMTP_CA", "RELAY_MAIL_TLS_CERT", "RELAY_MAIL_TLS_KEY"]
    .map((variable) => optionalText(env, variable))
    .filter((path) => path !== undefined);
  return [
    "--no-prompt",
    ...flag("read", [
      ENV_FILE,
      ...dataDir,
      ...named,
      ...(isMailOn(env) ? WORKER_MODULES : []),
      ...(asksSystemDns(env) ? [RESOLV_CONF] : []),
    ]),
    ...flag("write", dataDir),
    ...flag("env", SETTING_NAMES),
    ...netFlags(env, resolvConf),
    ...flag("sys", ["hostname", "statfs"]),
  ];
}

/**
 * None for no values: a flag without any would allow everything. A value with a comma is left out,
 * since the runtime has no spelling for one; a start that needs it says so.
 */
function flag(name: string, values: readonly (string | undefined)[]): string[] {
  const given = values.filter((value) => value !== undefined && !value.includes(","));
  return given.length === 0 ? [] : [`--allow-${name}=${given.join(",")}`];
}

/** Webhooks go to any public host: all hosts then, but what is known to be none of them is denied. */
function netFlags(env: Environment, resolvConf: string): string[] {
  const hosts = [
    listener(env),
    mailListener(env),
    ...kvHosts(env),
    nextHop(env),
    googleKeys(env),
    ...dnsServers(env, resolvConf),
    ...loopbackWebhooks(env),
  ].filter((host) => host !== undefined);
  if (isLocal(env) || !hasWebhooks(env)) return flag("net", hosts);
  const denied = deniedRanges(hosts);
  return ["--allow-net", ...(denied.length === 0 ? [] : [`--deny-net=${denied.join(",")}`])];
}

function hasWebhooks(env: Environment): boolean {
  return isMailOn(env) && (optionalText(env, "RELAY_WEBHOOKS") ?? "true") === "true";
}

/** Receivers on this machine, which local mode has unless it is told otherwise: by any port. */
function loopbackWebhooks(env: Environment): string[] {
  const isOpen = optionalText(env, "RELAY_ALLOW_LOOPBACK_WEBHOOKS") ?? String(isLocal(env));
  return hasWebhooks(env) && isOpen === "true" ? ["127.0.0.1", "[::1]"] : [];
}

/** With port 0 the port is not known yet: the host then, with every port. */
function listener(env: Environment): string | undefined {
  const host = (optionalText(env, "HOST") ?? "127.0.0.1").replace(/^\[(.*)\]$/, "$1");
  const port = optionalText(env, "PORT") ?? "8000";
  const bracketed = host.includes(":") ? `[${host}]` : host;
  return /^0+$/.test(port) ? reachable(bracketed) : reachable(`${bracketed}:${port}`);
}

/** Where mail comes in by SMTP: in local mode at a port that the system chooses. */
function mailListener(env: Environment): string | undefined {
  if (!isMailOn(env)) return undefined;
  const address = optionalText(env, "RELAY_MAIL_LISTEN") ??
    (isLocal(env) ? "127.0.0.1:0" : undefined);
  return address === undefined ? undefined : reachable(address);
}

/** A KV server may name other hosts for its data; they are not known before it is asked. */
function kvHosts(env: Environment): (string | undefined)[] {
  const url = optionalText(env, "RELAY_KV_URL");
  if (url === undefined) return [];
  const further = optionalText(env, "RELAY_KV_HOSTS")?.split(",").map((part) => part.trim()) ?? [];
  const withPort = further.map((host) => /:[0-9]+$/.test(host) ? host : `${host}:443`);
  return [hostOf(url, { "https:": 443, "http:": 80 }), ...withPort.map(reachable)];
}

function isMailOn(env: Environment): boolean {
  const needed = ["RELAY_SMTP_URL", "RELAY_MAIL_FROM", "RELAY_MAIL_DOMAIN"];
  return isLocal(env) || needed.every((variable) => optionalText(env, variable) !== undefined);
}

/** In local mode mail goes nowhere. */
function isLocal(env: Environment): boolean {
  return optionalText(env, "RELAY_MAIL_DEV") === "true";
}

function nextHop(env: Environment): string | undefined {
  const url = optionalText(env, "RELAY_SMTP_URL");
  if (url === undefined || optionalText(env, "RELAY_MAIL_FROM") === undefined) return undefined;
  if (isLocal(env)) return undefined;
  return hostOf(url, { "smtps:": 465, "smtp:": 587 });
}

/** Where sign-in with Google fetches keys, while mail and the sign-in are on. */
function googleKeys(env: Environment): string | undefined {
  const url = optionalText(env, "RELAY_GOOGLE_JWKS_URL") ?? GOOGLE_JWKS_URL;
  const isOn = isMailOn(env) && optionalText(env, "RELAY_GOOGLE_CLIENT_ID") !== undefined;
  return isOn ? hostOf(url, { "https:": 443, "http:": 80 }) : undefined;
}

/** The DNS servers that check senders of received mail, and where they answer; none in local mode. */
function dnsServers(env: Environment, resolvConf: string): (string | undefined)[] {
  if (!isMailOn(env) || isLocal(env)) return [];
  const named = optionalText(env, "RELAY_DNS_SERVERS")?.split(",").map((part) => part.trim());
  const servers = named ?? systemNameservers(resolvConf);
  const hosts = servers.map((given) => {
    const server = given.replace(/^tcp:/, "");
    if (/^[0-9.]+$|^\[[^\]]*\]$/.test(server)) return reachable(`${server}:${DNS_PORT}`);
    return reachable(/^[0-9a-f.]*:.*:/i.test(server) ? `[${server}]:${DNS_PORT}` : server);
  });
  return servers.every((server) => server.startsWith("tcp:")) ? hosts : [...hosts, DNS_ANSWERS];
}

function asksSystemDns(env: Environment): boolean {
  return isMailOn(env) && !isLocal(env) && optionalText(env, "RELAY_DNS_SERVERS") === undefined;
}

function hostOf(text: string, defaultPorts: Record<string, number>): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port } = new URL(text);
  const taken = port === "" ? defaultPorts[protocol] : port;
  return hostname === "" || taken === undefined ? undefined : reachable(`${hostname}:${taken}`);
}

/** What the runtime takes for a host: it ends at once over anything else, before the relay can say why. */
function reachable(host: string): string | undefined {
  const form = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(?::[0-9]+)?$/;
  return form.test(host) && URL.canParse(`http://${host}`) ? host : undefined;
}
