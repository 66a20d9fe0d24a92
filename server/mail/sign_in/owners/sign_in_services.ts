/** What the ways in by mail run on. */
import type { Limits } from "../../../base/config/limits.ts";
import type { OutgoingQueue } from "../../../base/outgoing/outgoing_queue.ts";
import type { GroupCommit } from "../../../base/storage/commits/group_commit.ts";
import type { RecordCache } from "../../../base/storage/commits/record_cache.ts";
import type { Store } from "../../../base/storage/rows/store.ts";
import type { LastUsed } from "../../access/last_used.ts";
import { LINK_MAIL_KIND } from "./queued_link.ts";

export interface SignInServices {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  limits: Limits;
  lastUsed: LastUsed;
  outgoing: Pick<OutgoingQueue, "wake">;
  /** Secret under which addresses are hashed that limits count, 32 bytes. */
  addressKey: Uint8Array;
}

/** Has the mails go that a commit has just queued. */
export function wakeLinkMails({ outgoing, store }: Pick<SignInServices, "outgoing" | "store">) {
  outgoing.wake({ kind: LINK_MAIL_KIND, dueMs: store.now() });
}
