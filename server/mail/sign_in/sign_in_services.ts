/** What the ways in by mail run on. */
import type { Limits } from "../../limits.ts";
import type { OutgoingQueue } from "../../outgoing/outgoing_queue.ts";
import type { GroupCommit } from "../../storage/group_commit.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { Store } from "../../storage/store.ts";
import type { LastUsed } from "../keys/last_used.ts";
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
