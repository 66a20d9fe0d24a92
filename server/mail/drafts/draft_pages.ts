/** Pages of an inbox's drafts, the newest first. */
import { Buffer } from "node:buffer";
import { BoundedPage } from "../../base/http/fields/bounded_page.ts";
import type { Rows } from "../../base/storage/rows/rows.ts";
import { rangeBehind } from "../mailbox/messages/messages.ts";
import { draftKey, type DraftRow } from "../records/draft_record.ts";
import { shownDraft } from "../mailbox/shown/shown_draft.ts";

export interface DraftPage {
  /** Finished JSON, each of one draft. */
  json: string[];
  /** Id of the last one; null for an empty page. */
  last: string | null;
  more: boolean;
}

/** Rows of one read of the store, of at most 48 KiB each. */
const BATCH = 20;

/** @param after id of the last draft of the page before; null for the first page */
export async function readDraftPage(
  store: Rows,
  { orgId, inboxId }: { orgId: string; inboxId: string },
  { after, limit, maxBytes }: { after: string | null; limit: number; maxBytes: number },
): Promise<DraftPage> {
  const prefix = draftKey(orgId, inboxId, "").slice(0, -1);
  const rows = await store.list<DraftRow>(rangeBehind(prefix, after, true), {
    limit: limit + 1,
    batchSize: BATCH,
    reverse: true,
  });
  const page = new BoundedPage<{ id: string; json: string }>({
    limit,
    maxBytes,
    sizeOf: ({ json }) => Buffer.byteLength(json),
  });
  page.add(rows.map(({ value }) => ({ id: value.id, json: JSON.stringify(shownDraft(value)) })));
  const json = page.rows.map((row) => row.json);
  return { json, last: page.rows.at(-1)?.id ?? null, more: page.hasMore };
}
