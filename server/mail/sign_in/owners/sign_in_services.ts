/** What the ways in by mail run on. */
import type { ClientAddresses } from "../../../base/http/callers/client_address.ts";
import type { Limits } from "../../../base/config/limits.ts";
import type { GroupCommit } from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { LastUsed } from "../../access/last_used.ts";

export interface SignInServices {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  limits: Limits;
  lastUsed: LastUsed;
  clients: ClientAddresses;
}
