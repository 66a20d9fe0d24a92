/** Destinations of the outgoing queue by a recipient's domain, so that each domain has its share. */
import { createHash } from "node:crypto";
import type { Parties } from "./shares.ts";

export type { Parties } from "./shares.ts";

const TAG_CHARACTERS = 16;

/** The domain of an address, lowercased. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf("@") + 1).toLowerCase();
}

/**
 * What stands for the domain of an address in a destination: of one length for any domain, and nothing of
 * an address that is cleared stays in a row that names it.
 */
export function domainTag(address: string): string {
  return createHash("sha256").update(domainOf(address)).digest("hex").slice(0, TAG_CHARACTERS);
}

/** The parties of a kind whose destinations are domain tags; rows of former versions have none. */
export function partiesByDomain(destination: string): Parties {
  return destination === "" ? {} : { domain: destination };
}
