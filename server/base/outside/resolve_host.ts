/** The addresses of a host's name. */
import { lookup } from "node:dns/promises";
import type { AskDns } from "./dns_client.ts";
import { OutsideFailure } from "./outside_failure.ts";

/**
 * Every address of a name, at least one.
 * @throws OutsideFailure "dns"
 */
export type ResolveHost = (name: string, signal: AbortSignal) => Promise<string[]>;

/** Asks the system, which may know names of its own (/etc/hosts): addresses are judged, not where they are from. */
export const resolveBySystem: ResolveHost = async (name) => {
  try {
    const found = await lookup(name, { all: true });
    return found.map(({ address }) => address);
  } catch (error) {
    throw new OutsideFailure("dns", error);
  }
};

/** Asks DNS servers for both kinds of addresses; one kind is enough where the other cannot be had. */
export function resolveByDns(ask: AskDns): ResolveHost {
  return async (name, signal) => {
    const answers = await Promise.all([ask(name, "A", signal), ask(name, "AAAA", signal)]);
    const addresses = answers.flatMap((answer) =>
      "code" in answer ? [] : answer.records.filter((record) => typeof record === "string")
    );
    if (addresses.length > 0) return addresses;
    throw new OutsideFailure("dns");
  };
}
