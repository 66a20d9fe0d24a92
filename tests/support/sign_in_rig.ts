/** The ways into orgs over a store, without HTTP and without mail that leaves. */
import { ClientAddresses } from "../../server/base/http/callers/client_address.ts";
import { DEFAULT_LIMITS } from "../../server/base/config/limits.ts";
import { LastUsed } from "../../server/mail/access/last_used.ts";
import type { SignInServices } from "../../server/mail/sign_in/owners/queued_link.ts";
import type { TestStorage } from "./storage.ts";

export function signInServices(
  { store, records, commits }: TestStorage,
): SignInServices {
  return {
    store,
    records,
    commits,
    limits: {
      ...DEFAULT_LIMITS,
      mailClaimsPerOrgPerHour: 1_000,
      mailMagicPerEmailPerHour: 1_000,
      mailMagicPerIpPerHour: 1_000,
    },
    lastUsed: new LastUsed(store),
    clients: new ClientAddresses(new Uint8Array(32), 0),
    domain: "agents.test",
  };
}
