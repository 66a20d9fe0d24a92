/** What every part of the relay is given: what it runs on. It knows no area. */
import type { Deps } from "./deps.ts";
import { ClientAddresses } from "../http/callers/client_address.ts";
import type { Http } from "../http/part.ts";
import type { Limits } from "../config/limits.ts";
import type { Storage } from "../storage/part.ts";

type Stored = Pick<
  Storage,
  | "store"
  | "records"
  | "commits"
  | "ids"
  | "leases"
  | "publicReads"
  | "freeDisk"
  | "isFloorKnown"
  | "addressKey"
>;

export interface Core extends Stored, Pick<Http, "answers"> {
  deps: Deps;
  limits: Limits;
  /** Whom limits count by their addresses. */
  clients: ClientAddresses;
}

/** The core over an open store. */
export function createCore(deps: Deps, storage: Storage, { answers }: Http): Core {
  const { store, records, commits, ids, leases, publicReads, freeDisk, isFloorKnown, addressKey } =
    storage;
  return {
    deps,
    limits: deps.config.limits,
    store,
    records,
    commits,
    ids,
    leases,
    publicReads,
    freeDisk,
    isFloorKnown,
    addressKey,
    clients: new ClientAddresses(addressKey, deps.config.trustedProxyHops),
    answers,
  };
}
