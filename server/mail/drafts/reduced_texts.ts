/** The HTML of a draft in the form its inbox sends it in: reduced where a person approves it. */
import type { DraftRow, DraftTexts } from "../records/draft_record.ts";
import type { InboxRecord } from "../records/inbox_record.ts";
import { ownPictures } from "../composing/reducing/reduced_addresses.ts";
import type { MailWorker } from "../worker/mail_worker.ts";

export interface HtmlToReduce {
  html: string | null;
  /** Whether a person approves it. */
  isApproved: boolean;
  /** That go out with it. */
  attachments: readonly ReducedAttachment[];
}

type ReducedAttachment =
  & { contentType: string; contentId: string | null }
  & ({ content: Uint8Array } | { sizeBytes: number });

export interface ReducedTexts {
  /** Null where there is none, or nothing is left of it. */
  html: string | null;
  /** What was taken out; null where it is as it was given. */
  removed: readonly string[] | null;
}

/** Reduces an HTML for a change that may be tried again: the same one is read once. */
export function reducer(
  composer: Pick<MailWorker, "reduce">,
  orgId: string,
): (asked: HtmlToReduce) => Promise<ReducedTexts> {
  let last: { key: string; html: string; result: ReducedTexts } | null = null;
  return async ({ html, isApproved, attachments }) => {
    if (!isApproved) return { html, removed: null };
    if (html === null) return { html, removed: [] };
    const pictures = ownPictures(attachments).map((one) => ({
      contentId: one.contentId,
      sizeBytes: "content" in one ? one.content.length : one.sizeBytes,
    }));
    const key = JSON.stringify(pictures);
    if (last === null || last.key !== key || last.html !== html) {
      const { html: reduced, removed } = await composer.reduce(html, pictures, orgId);
      last = { key, html, result: { html: reduced === "" ? null : reduced, removed } };
    }
    return last.result;
  };
}

/** Whether nothing is to be done to a draft's HTML before its inbox lets it go out. Pure. */
export function isAsItGoesOut(
  { row: { reduced = null }, texts: { html } }: {
    row: Pick<DraftRow, "reduced">;
    texts: Pick<DraftTexts, "html">;
  },
  { sendPolicy }: Pick<InboxRecord, "sendPolicy">,
): boolean {
  return sendPolicy !== "draft_only" || reduced !== null || html === null;
}
