/**
 * Which Host and Origin may reach a tool server. A stranger's page can make a browser send requests
 * to a relay on the same machine (DNS rebinding). A relay on loopback therefore answers only to its
 * own names. Pure.
 */
import { validateHostHeader, validateOriginHeader } from "@modelcontextprotocol/server";
import ipaddr from "ipaddr.js";
import type { Config } from "../config/config.ts";
import { RelayError } from "../errors.ts";

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

export interface AccessRules {
  /** Host names as URL.hostname spells them, at any port; null where any is accepted. */
  hosts: readonly string[] | null;
  /** Host names of origins; null where any is accepted. */
  origins: readonly string[] | null;
}

export function accessRules(
  { host, baseUrl, baseUrlGiven, onDeploy }: Pick<
    Config,
    "host" | "baseUrl" | "baseUrlGiven" | "onDeploy"
  >,
): AccessRules {
  const own = new URL(baseUrl).hostname;
  if (isLoopback(host) && !onDeploy) {
    const names = [...new Set([...LOOPBACK_NAMES, own])];
    return { hosts: names, origins: names };
  }
  return { hosts: baseUrlGiven ? [own] : null, origins: null };
}

/** What start-up says where hosts cannot be checked; null where they are. */
export function accessNote({ hosts }: AccessRules): string | null {
  return hosts === null ? "the Host of requests is not checked: RELAY_BASE_URL is unset" : null;
}

/** Host headers that are remembered: a client sends one of few, but at any port. */
const REMEMBERED_HOSTS = 100;

/** Refuses what may not reach a tool server. */
export class AccessGuard {
  /** Host headers that were let through: reading one takes a URL. */
  readonly #knownHosts = new Set<string>();

  constructor(private readonly rules: AccessRules) {}

  /** @throws RelayError `forbidden` */
  refuseStrange(headers: Headers): void {
    const { hosts, origins } = this.rules;
    if (hosts !== null && !this.#isOwn(headers.get("host"), hosts)) {
      throw new RelayError(
        "forbidden",
        `the Host header must name this relay (${
          hosts.join(", ")
        }); its operator sets the name with RELAY_BASE_URL`,
      );
    }
    if (!acceptsOrigin(headers.get("origin"), { origins })) {
      throw new RelayError(
        "forbidden",
        `pages of this Origin may not call the tool server; allowed are pages of ${
          origins!.join(", ")
        }`,
      );
    }
  }

  #isOwn(host: string | null, hosts: readonly string[]): boolean {
    if (host === null) return false;
    if (this.#knownHosts.has(host)) return true;
    const isOwn = validateHostHeader(host, [...hosts]).ok;
    if (isOwn && this.#knownHosts.size < REMEMBERED_HOSTS) this.#knownHosts.add(host);
    return isOwn;
  }
}

/** Whether scripts of this origin may read answers; true where none is named. */
export function acceptsOrigin(
  origin: string | null,
  { origins }: Pick<AccessRules, "origins">,
): boolean {
  return origins === null || validateOriginHeader(origin, [...origins]).ok;
}

function isLoopback(host: string): boolean {
  if (host.toLowerCase() === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}
