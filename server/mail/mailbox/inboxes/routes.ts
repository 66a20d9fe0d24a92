/** Routes of inboxes: /v1/mail/inboxes (docs/mail.md). */
import { z } from "@hono/zod-openapi";
import { time } from "../../../base/description/schemas/values.ts";
import { answerJson, NO_STORE } from "../../../base/http/answers/answer.ts";
import { noContent } from "../../../base/http/answers/no_content.ts";
import { mayRead } from "../../access/access.ts";
import type { MailBase } from "../../core/mail_base.ts";
import { type KeyedRequest, keyRoute } from "../../access/mail_route.ts";
import { type Inbox as StoredInbox, markedInbox, shownInbox } from "../../records/inbox_record.ts";
import { orgState } from "../../records/org_record.ts";
import { mailId, NO_INBOX, pageOf, PageQuery, unkept } from "../../access/schemas.ts";
import { readInboxChanges, readInboxRequest } from "./inbox_request.ts";
import type { Inboxes } from "./inboxes.ts";

export interface InboxServices extends MailBase {
  inboxes: Inboxes;
  /** Erases in the background what was in deleted inboxes. */
  erasures: { begin(): void };
}

const SendPolicy = z.enum(["direct", "draft_only"]);
const entries = (what: string) =>
  z.array(z.string().max(254)).max(100).openapi({ description: what });

const LISTS = {
  allow_send: entries("Not empty: every recipient must match one of them."),
  allow_receive: entries("Not empty: the sender must match one of them, and be authenticated."),
  block_receive: entries("Senders whose mail is refused."),
};

const Inbox = z.object({
  id: mailId("ibx", "The inbox."),
  org_id: mailId("org", "Whose it is."),
  address: z.string(),
  display_name: z.string().nullable(),
  status: z.enum(["active", "expired"]),
  retention_days: z.int().min(1).max(3650).nullable(),
  send_policy: SendPolicy,
  ...LISTS,
  unread_count: z.int().min(0),
  created_at: time("When it was made."),
  updated_at: time("Its last change."),
}).openapi("MailInbox");

/** What a key without inbox:read is answered of an inbox that is there. */
const InboxMarks = Inbox.omit({
  display_name: true,
  allow_send: true,
  allow_receive: true,
  block_receive: true,
}).strict().openapi("MailInboxMarks");

const displayName = z.string().nullable().optional()
  .openapi({ description: "At most 100 characters, shown to recipients." });
const retentionDays = z.int().min(1).max(3650).nullable().optional()
  .openapi({ description: "Messages older are deleted; null keeps them." });
const optionalLists = (nullable: boolean) =>
  Object.fromEntries(
    Object.entries(LISTS).map(([name, list]) => [
      name,
      nullable ? list.nullable().optional() : list.optional(),
    ]),
  );

/** As cleanLocalPart() returns it: dots stand between other characters only. */
const LOCAL_PART = /^[A-Za-z0-9](?:(?:\.?[_-])*\.?[A-Za-z0-9])*$/;

const InboxRequest = z.object({
  local_part: z.string().max(64).regex(LOCAL_PART).nullable().optional().openapi({
    description:
      "1 to 64 of a-z, 0-9, dot, hyphen, underscore, a letter or digit first and last, no " +
      "two dots in a row; letters are lowercased. A made-up one when absent.",
  }),
  display_name: displayName,
  send_policy: SendPolicy.nullable().optional().openapi({ description: "`direct` when absent." }),
  retention_days: retentionDays,
  ...optionalLists(true),
  client_id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/).nullable().optional().openapi({
    description: "Makes a retry safe: the same again finds the inbox that was made.",
  }),
}).openapi("MailInboxRequest");

const InboxChanges = z.strictObject({
  display_name: displayName,
  send_policy: SendPolicy.optional(),
  retention_days: retentionDays,
  ...optionalLists(false),
}).openapi("MailInboxChanges");

const InboxOrMarks = z.union([Inbox, InboxMarks]);

const createMailInbox = keyRoute({
  method: "POST",
  path: "/v1/mail/inboxes",
  id: "createMailInbox",
  may: "orgWrite",
  summary: "Create an inbox",
  words: ({ limits }) => ({
    description: "Makes an inbox at the relay's domain. Mail to `local_part+anything` arrives " +
      "too. With `send_policy` `draft_only` what holders of inbox-scoped keys send waits for a " +
      "person; **an org-scoped key may always send.**\n\n" +
      `At most ${limits.mailInboxesPerOrg} an org, ${limits.mailInboxesPerTrial} in a trial. ` +
      "An address is never given out again.",
    body: {
      description: "null counts as absent, unknown fields are ignored; `{}` makes one.",
      schema: InboxRequest,
    },
    answers: {
      200: unkept("The inbox that was made under this client_id.", InboxOrMarks),
      201: unkept("The inbox.", Inbox),
    },
    errors: {
      reserved_local_part: null,
      inbox_limit_reached: null,
      rate_limited:
        "the org has taken ten times as many addresses within a day as it may have inboxes",
      address_taken: null,
    },
  }),
  handle: (services: InboxServices) => async (request) => {
    const asked = readInboxRequest(await request.body());
    await services.freeDisk.refuseWhenFull();
    const { inbox, isNew } = await services.inboxes.create(request, asked);
    if (isNew) return answerJson(await shown(services, request, inbox), 201, NO_STORE);
    return await giveFormer(services, request, inbox);
  },
});

const listMailInboxes = keyRoute({
  method: "GET",
  path: "/v1/mail/inboxes",
  id: "listMailInboxes",
  may: "read",
  summary: "List inboxes",
  words: {
    description: "The org's inboxes, the oldest first; with an inbox-scoped key its one.",
    query: PageQuery,
    answers: {
      200: unkept("A page of inboxes.", pageOf(Inbox)),
    },
  },
  handle: (services: InboxServices) => async (request) => {
    const { inboxes, pages } = services;
    const { c, org, key } = request;
    const allShown = (some: readonly StoredInbox[]) =>
      Promise.all(some.map((inbox) => shown(services, request, inbox)));
    const page = await pages.read(c, { org: org.id, key_inbox: key.inboxId });
    if (key.inboxId !== null) {
      const own = page.after === null ? [await inboxes.find(request, key.inboxId)] : [];
      return page.answer(await allShown(own), null);
    }
    const afterId = page.after === null ? null : page.after[0] as string;
    const { inboxes: some, more } = await inboxes.list(org.id, afterId, page.limit);
    const last = more ? [some.at(-1)!.id] : null;
    return page.answer(await allShown(some), last);
  },
});

const readMailInbox = keyRoute({
  method: "GET",
  path: "/v1/mail/inboxes/{id}",
  id: "readMailInbox",
  may: "read",
  summary: "Read an inbox",
  addition: true,
  words: {
    description: "One inbox, by its id or its address.",
    answers: { 200: unkept("The inbox.", Inbox) },
    errors: { not_found: NO_INBOX },
  },
  handle: (services: InboxServices) => async (request) => {
    const inbox = await services.inboxes.find(request, request.params["id"]!);
    return answerJson(await shown(services, request, inbox), 200, NO_STORE);
  },
});

const updateMailInbox = keyRoute({
  method: "PATCH",
  path: "/v1/mail/inboxes/{id}",
  id: "updateMailInbox",
  may: "orgWrite",
  summary: "Change an inbox",
  addition: true,
  words: {
    description: "Changes what is named and leaves the rest. null clears `display_name`, and in " +
      "`retention_days` it keeps messages. A key without `inbox:read` is answered without the name " +
      "and the lists.",
    body: { description: "Unknown fields are refused.", schema: InboxChanges },
    answers: { 200: unkept("The inbox as it is now.", InboxOrMarks) },
    errors: { not_found: NO_INBOX },
  },
  handle: (services: InboxServices) => async (request) => {
    const { inboxes, freeDisk } = services;
    const { id } = await inboxes.find(request, request.params["id"]!);
    const changes = readInboxChanges(await request.body());
    await freeDisk.refuseWhenFull();
    return await giveFormer(services, request, await inboxes.change(request, id, changes));
  },
});

const deleteMailInbox = keyRoute({
  method: "DELETE",
  path: "/v1/mail/inboxes/{id}",
  id: "deleteMailInbox",
  may: "orgWrite",
  summary: "Delete an inbox",
  addition: true,
  words: {
    description: "Deletes the inbox with all that is in it, and the keys that were for it. Later " +
      "mail is refused. The address is never given out again.",
    answers: { 204: { description: "Deleted." } },
    errors: { not_found: NO_INBOX },
  },
  handle: ({ inboxes, erasures }: InboxServices) => async (request) => {
    const { id } = await inboxes.find(request, request.params["id"]!);
    await inboxes.delete(request, id);
    erasures.begin();
    return noContent();
  },
});

export const INBOX_ROUTES = [
  createMailInbox,
  listMailInboxes,
  readMailInbox,
  updateMailInbox,
  deleteMailInbox,
];

async function shown(
  { mailboxes, domain, now, limits }: InboxServices,
  { org }: Pick<KeyedRequest, "org">,
  inbox: StoredInbox,
) {
  const { unread } = await mailboxes.read(org.id, inbox.id);
  return shownInbox(inbox, domain, orgState(org, now(), limits), unread);
}

/** An inbox that others may have made and changed. */
async function giveFormer(
  services: InboxServices,
  request: KeyedRequest,
  inbox: StoredInbox,
): Promise<Response> {
  const record = await shown(services, request, inbox);
  return answerJson(mayRead(request.key) ? record : markedInbox(record), 200, NO_STORE);
}
