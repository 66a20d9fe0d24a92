/** What a store says of the mail area that it was made for: another domain must not open it. */
import { ConfigError } from "../config.ts";
import { retryWhileLocked } from "../storage/lock_retry.ts";

/** ["meta","mail"]: made when mail is first on. */
interface MailMark {
  v: 1;
  /** Domain of all inboxes; another one may be set until the first address is given out. */
  domain: string;
  /** Made in local mode, in which mail goes nowhere. */
  local: boolean;
}
const MARK: Deno.KvKey = ["meta", "mail"];
/** Stands once an agent has registered: in a store without a mark, with a relay that was not in local mode. */
const ANY_AGENT: Deno.KvKey = ["count", "agents"];

/**
 * Makes sure that the store's mail area is the one that is configured, and marks a new one. A store
 * in which no address was given out takes another domain: a slip at the first start must not lock it.
 * @throws ConfigError naming the variable
 */
export async function claimStore(
  kv: Deno.Kv,
  { domain, local }: { domain: string; local: boolean },
): Promise<void> {
  await retryWhileLocked(async () => {
    for (;;) {
      const found = await kv.get<MailMark>(MARK);
      if (found.value !== null) {
        requireSameMode(found.value, local);
        if (found.value.domain === domain) return;
        if (await hasAddresses(kv)) throw otherDomain(found.value.domain);
      } else if (local && (await kv.get(ANY_AGENT)).value !== null) throw realStore();
      const mark: MailMark = { v: 1, domain, local };
      if ((await kv.atomic().check(found).set(MARK, mark).commit()).ok) return;
    }
  });
}

/** @throws ConfigError for a store of local mode in a relay that is not in it, mail on or off */
export async function refuseLocalStore(kv: Deno.Kv): Promise<void> {
  const { value } = await retryWhileLocked(() => kv.get<MailMark>(MARK));
  if (value?.local) throw localOnly();
}

/** Addresses outlive their inboxes and orgs: where one stands, the domain has been told to somebody. */
async function hasAddresses(kv: Deno.Kv): Promise<boolean> {
  for await (const _ of kv.list({ prefix: ["mail-address"] }, { limit: 1 })) return true;
  return false;
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
