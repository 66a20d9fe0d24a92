import { isIP } from "node:net";

/** True where only this machine can listen. @param host without brackets around IPv6 */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
