/** E-mail addresses that local mode writes into headers. Pure. */

/** A dot-atom and a domain name (RFC 5322, section 3.4.1): nothing that a header would have to quote. */
const ADDR_SPEC = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9.-]+$/;
const MAX_LENGTH = 254;

export function isAddrSpec(value: unknown): value is string {
  return typeof value === "string" && value.length <= MAX_LENGTH && ADDR_SPEC.test(value);
}

/** What stands right of the @. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1);
}
