/** Routes of inboxes: /v1/mail/inboxes. */
import { answerJson, NO_STORE } from "../../http/answer.ts";
import { noContent } from "../../http/no_content.ts";
import type { Limits } from "../../limits.ts";
import type { FreeDisk } from "../../storage/free_disk.ts";
import { mayRead } from "../access.ts";
import type { Mailboxes } from "../mailboxes/mailboxes.ts";
import type { ListPages } from "../list_pages.ts";
import type { KeyedRequest, MailHandlers } from "../mail_routes.ts";
import { type Inbox, markedInbox, shownInbox } from "../records/inbox_record.ts";
import { orgState } from "../records/org_record.ts";
import type { InboxErasures } from "./inbox_erasures.ts";
import { readInboxChanges, readInboxRequest } from "./inbox_request.ts";
import type { Inboxes } from "./inboxes.ts";

export interface InboxRouteServices {
  inboxes: Inboxes;
  mailboxes: Pick<Mailboxes, "read">;
  erasures: Pick<InboxErasures, "begin">;
  pages: ListPages;
  freeDisk: FreeDisk;
  limits: Limits;
  now: () => number;
  domain: string;
}

export function inboxHandlers(
  { inboxes, mailboxes, erasures, pages, freeDisk, limits, now, domain }: InboxRouteServices,
) {
  async function shown({ org }: Pick<KeyedRequest, "org">, inbox: Inbox) {
    const { unread } = await mailboxes.read(org.id, inbox.id);
    return shownInbox(inbox, domain, orgState(org, now(), limits), unread);
  }

  /** An inbox that others may have made and changed. */
  async function giveFormer(request: KeyedRequest, inbox: Inbox): Promise<Response> {
    const record = await shown(request, inbox);
    return answerJson(mayRead(request.key) ? record : markedInbox(record), 200, NO_STORE);
  }

  async function allShown(request: KeyedRequest, some: readonly Inbox[]) {
    return await Promise.all(some.map((inbox) => shown(request, inbox)));
  }

  return {
    async createMailInbox(request) {
      const asked = readInboxRequest(await request.body());
      await freeDisk.refuseWhenFull();
      const { inbox, isNew } = await inboxes.create(request, asked);
      if (isNew) return answerJson(await shown(request, inbox), 201, NO_STORE);
      return await giveFormer(request, inbox);
    },
    async listMailInboxes(request) {
      const { c, org, key } = request;
      const page = await pages.read(c, { org: org.id, key_inbox: key.inboxId });
      if (key.inboxId !== null) {
        const own = page.after === null ? [await inboxes.find(request, key.inboxId)] : [];
        return page.answer(await allShown(request, own), null);
      }
      const afterId = page.after === null ? null : page.after[0] as string;
      const { inboxes: some, more } = await inboxes.list(org.id, afterId, page.limit);
      const last = more ? [some.at(-1)!.id] : null;
      return page.answer(await allShown(request, some), last);
    },
    async readMailInbox(request) {
      const inbox = await inboxes.find(request, request.params["id"]!);
      return answerJson(await shown(request, inbox), 200, NO_STORE);
    },
    async updateMailInbox(request) {
      const { id } = await inboxes.find(request, request.params["id"]!);
      const changes = readInboxChanges(await request.body());
      await freeDisk.refuseWhenFull();
      return await giveFormer(request, await inboxes.change(request, id, changes));
    },
    async deleteMailInbox(request) {
      const { id } = await inboxes.find(request, request.params["id"]!);
      await inboxes.delete(request, id);
      erasures.begin();
      return noContent();
    },
  } satisfies MailHandlers;
}
