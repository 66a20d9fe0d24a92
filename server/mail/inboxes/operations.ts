/** Inboxes in the API description (docs/mail.md, "Inboxes"). */
import { z } from "@hono/zod-openapi";
import { time } from "../../description/schemas/values.ts";
import type { Limits } from "../../limits.ts";
import { type DescribedRoutes, mailId, pageOf, PageQuery } from "../described.ts";

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

/** As cleanLocalPart() has it: dots stand between other characters only. */
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

const one = (description: string, schema: z.ZodType = Inbox) => ({
  description,
  headers: ["Cache-Control"] as const,
  content: { schema },
});
const InboxOrMarks = z.union([Inbox, InboxMarks]);

export function inboxRoutes(limits: Limits): DescribedRoutes {
  const notFound = "the org has no inbox with this id or address, or the key is for another";
  return {
    createMailInbox: {
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
        200: one("The inbox that was made under this client_id.", InboxOrMarks),
        201: one("The inbox."),
      },
      errors: {
        reserved_local_part: null,
        inbox_limit_reached: null,
        rate_limited:
          "the org has taken ten times as many addresses within a day as it may have inboxes",
        address_taken: null,
      },
    },
    listMailInboxes: {
      description: "The org's inboxes, the oldest first; with an inbox-scoped key its one.",
      query: PageQuery,
      answers: {
        200: {
          description: "A page of inboxes.",
          headers: ["Cache-Control"],
          content: { schema: pageOf(Inbox) },
        },
      },
    },
    readMailInbox: {
      description: "One inbox, by its id or its address.",
      answers: { 200: one("The inbox.") },
      errors: { not_found: notFound },
    },
    updateMailInbox: {
      description:
        "Changes what is named and leaves the rest. null clears `display_name`, and in " +
        "`retention_days` it keeps messages. A key without `inbox:read` is answered without the name " +
        "and the lists.",
      body: { description: "Unknown fields are refused.", schema: InboxChanges },
      answers: { 200: one("The inbox as it is now.", InboxOrMarks) },
      errors: { not_found: notFound },
    },
    deleteMailInbox: {
      description:
        "Deletes the inbox with all that is in it, and the keys that were for it. Later " +
        "mail is refused. The address is never given out again.",
      answers: { 204: { description: "Deleted." } },
      errors: { not_found: notFound },
    },
  };
}
