/** Routes of inboxes: /v1/mail/inboxes. */
import { answerJson, NO_STORE } from "../../http/answer.ts";
import { noContent } from "../../http/no_content.ts";
import type { Limits } from "../../limits.ts";
import type { FreeDisk } from "../../storage/free_disk.ts";
import type { ListPages } from "../list_pages.ts";
import type { KeyedRequest, MailHandlers } from "../mail_routes.ts";
import { type Inbox, shownInbox } from "../records/inbox_record.ts";
import { orgState } from "../records/org_record.ts";
import { readInboxChanges, readInboxRequest } from "./inbox_request.ts";
import type { Inboxes } from "./inboxes.ts";

export interface InboxRouteServices {
  inboxes: Inboxes;
  pages: ListPages;
  freeDisk: FreeDisk;
  limits: Limits;
  now: () => number;
  domain: string;
}

export function inboxHandlers(
  { inboxes, pages, freeDisk, limits, now, domain }: InboxRouteServices,
) {
  function shown({ org }: Pick<KeyedRequest, "org">, inbox: Inbox) {
    return shownInbox(inbox, domain, orgState(org, now(), limits));
  }

  return {
    async createMailInbox(request) {
      const asked = readInboxRequest(await request.body());
      await freeDisk.refuseWhenFull();
      const { inbox, isNew } = await inboxes.create(request.org.id, asked);
      return answerJson(shown(request, inbox), isNew ? 201 : 200, NO_STORE);
    },
    async listMailInboxes(request) {
      const { c, org, key } = request;
      const page = await pages.read(c, { org: org.id, key_inbox: key.inboxId });
      if (key.inboxId !== null) {
        const own = page.after === null ? [await inboxes.find(request, key.inboxId)] : [];
        return page.answer(own.map((inbox) => shown(request, inbox)), null);
      }
      const afterId = page.after === null ? null : page.after[0] as string;
      const { inboxes: some, more } = await inboxes.list(org.id, afterId, page.limit);
      const last = more ? [some.at(-1)!.id] : null;
      return page.answer(some.map((inbox) => shown(request, inbox)), last);
    },
    async readMailInbox(request) {
      const inbox = await inboxes.find(request, request.params["id"]!);
      return answerJson(shown(request, inbox), 200, NO_STORE);
    },
    async updateMailInbox(request) {
      const { id } = await inboxes.find(request, request.params["id"]!);
      const changes = readInboxChanges(await request.body());
      await freeDisk.refuseWhenFull();
      const inbox = await inboxes.change(request.org.id, id, changes);
      return answerJson(shown(request, inbox), 200, NO_STORE);
    },
    async deleteMailInbox(request) {
      const { id } = await inboxes.find(request, request.params["id"]!);
      await inboxes.delete(request.org.id, id);
      return noContent();
    },
  } satisfies MailHandlers;
}
