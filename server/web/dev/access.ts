/**
 * Who may reach what local mode shows: a browser or a program of this machine, under one of its own names. A
 * page of a stranger can have a browser ask a relay on the same machine (DNS rebinding). Pure.
 */
import { isLoopback } from "../../base/config/loopback.ts";
import { RelayError } from "../../base/errors.ts";
import { forwardingHeader } from "../../base/http/callers/forwarding_headers.ts";

/**
 * @param baseUrl origin of the relay's links
 * @param what is there, for those who are refused
 * @throws RelayError `forbidden`
 */
export function refuseStrangers(headers: Headers, baseUrl: string, what: string): void {
  const forbidden = (rule: string) => new RelayError("forbidden", `${what} of local mode ${rule}`);
  const host = headers.get("host") ?? "";
  if (!isOwnName(host)) {
    throw forbidden("is asked for under a name of this machine, such as localhost or 127.0.0.1");
  }
  const forwarding = forwardingHeader(headers);
  if (forwarding !== null) {
    throw forbidden(`is not given through a proxy, which the header ${forwarding} tells of`);
  }
  const origin = headers.get("origin");
  if (origin !== null && origin !== `http://${host.toLowerCase()}` && origin !== baseUrl) {
    throw forbidden("is open to no page of another Origin than its own");
  }
}

/** @param host as the Host header has it */
function isOwnName(host: string): boolean {
  if (!/^(?:\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::[0-9]{1,5})?$/i.test(host)) return false;
  if (!URL.canParse(`http://${host}`)) return false;
  return isLoopback(new URL(`http://${host}`).hostname.replace(/^\[(.*)\]$/, "$1"));
}
