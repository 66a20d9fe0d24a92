/** The DNS servers of the system that a file names. */
import type { DnsServer } from "./dns_client.ts";
import { RESOLV_CONF, systemNameservers } from "../../../../toolkit/mail/resolv_conf.ts";

/** None where the file is not there, or may not be read. */
export async function readSystemDns(): Promise<DnsServer[]> {
  try {
    return systemNameservers(await Deno.readTextFile(RESOLV_CONF))
      .map((host) => ({ host, port: 53 }));
  } catch {
    return [];
  }
}
