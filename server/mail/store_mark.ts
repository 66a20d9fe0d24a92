/** What a store says of the mail area that it was made for: another domain must not open it. */
import type { Rows } from "../base/storage/rows/rows.ts";
import { ConfigError } from "../base/config/config.ts";
import { defineRow } from "../base/storage/rows/row_key.ts";
import { addressKey } from "./records/inbox_record.ts";

/** Made when mail is first on. */
interface MailMark {
  v: 1;
  /** Domain of all inboxes; another one may be set until the first address is given out. */
  domain: string;
  /** Made in local mode, in which mail goes nowhere. */
  local: boolean;
}
const MARK = defineRow(["meta", "mail"], 0, {
  holds: "domain of the store's inboxes, fixed with the first address, and whether it was " +
    "made in local mode",
})();

/**
 * Makes sure that the store's mail area is the one that is configured, and marks a new one. A store
 * in which no address was given out takes another domain: a slip at the first start must not lock it.
 * @param wasUsed whether a store without a mark was used: with a relay that was not in local mode
 * @throws ConfigError naming the variable
 */
export async function claimStore(
  store: Rows,
  { domain, local }: { domain: string; local: boolean },
  wasUsed: () => Promise<boolean>,
): Promise<void> {
  await store.transact(async (transaction) => {
    const { value: found } = await transaction.get<MailMark>(MARK);
    if (found !== null) {
      requireSameMode(found, local);
      if (found.domain === domain) return;
      if (await hasAddresses(store)) throw otherDomain(found.domain);
    } else if (local && await wasUsed()) throw realStore();
    transaction.set(MARK, { v: 1, domain, local } satisfies MailMark);
  });
}

/** @throws ConfigError for a store of local mode in a relay that is not in it, mail on or off */
export async function refuseLocalStore(store: Rows): Promise<void> {
  const { value } = await store.get<MailMark>(MARK);
  if (value?.local) throw localOnly();
}

/** Addresses outlive their inboxes and orgs: where one stands, the domain has been told to somebody. */
async function hasAddresses(store: Rows): Promise<boolean> {
  return (await store.list({ prefix: addressKey.under() }, { limit: 1 })).length > 0;
}

function requireSameMode(mark: MailMark, local: boolean): void {
  if (mark.local && !local) throw localOnly();
  if (!mark.local && local) throw realStore();
}

function otherDomain(domain: string): ConfigError {
  return new ConfigError(
    "RELAY_MAIL_DOMAIN",
    `must be ${domain}: the inboxes of this store are at that domain, and their addresses are for ever; another domain takes another store (RELAY_DATA_DIR)`,
  );
}

function realStore(): ConfigError {
  return new ConfigError(
    "RELAY_MAIL_DEV",
    "must be unset for this store: it was used without it; give local mode a folder of its own (RELAY_DATA_DIR)",
  );
}

function localOnly(): ConfigError {
  return new ConfigError(
    "RELAY_MAIL_DEV",
    "must be true for this store: it was made in local mode, and its mail went nowhere; a relay with real mail takes another (RELAY_DATA_DIR)",
  );
}
