/** API keys in the API description (specification, 4.7 and 5.3). */
import { z } from "@hono/zod-openapi";
import { time } from "../../description/schemas/values.ts";
import type { Limits } from "../../limits.ts";
import { type DescribedRoutes, mailId, pageOf, PageQuery } from "../described.ts";

const Permission = z.enum(["inbox:read", "inbox:write"]);

const FIELDS = {
  id: mailId("key", "The key's record."),
  name: z.string(),
  prefix: z.string().length(12).openapi({ description: "The first characters of the key." }),
  scope: z.enum(["org", "inbox"]),
  inbox_id: mailId("ibx", "The one inbox of a key of scope inbox.").nullable(),
  permissions: z.array(Permission),
  created_at: time("When it was made."),
  expires_at: time("When it ends; null for never.").nullable(),
  last_used_at: time("Its last use, at most a minute late.").nullable(),
};
const Key = z.object(FIELDS).openapi("MailApiKey");

const NewKey = z.object({
  ...FIELDS,
  api_key: z.string().regex(/^rm_sk_[A-Za-z0-9_-]{43}$/).openapi({
    description: "Shown this once.",
  }),
}).openapi("MailNewApiKey");

const KeyRequest = z.object({
  name: z.string().min(1).max(100),
  scope: z.enum(["org", "inbox"]).nullable().optional().openapi({
    description: "`org` when absent.",
  }),
  inbox_id: z.string().nullable().optional().openapi({
    description: "Id or address of an inbox; required with scope `inbox`.",
  }),
  permissions: z.array(Permission).min(1).nullable().optional().openapi({
    description: "Those of the calling key when absent; never more.",
  }),
  expires_at: z.string().nullable().optional().openapi({
    format: "date-time",
    description: "In the future, at most 5 years ahead and no later than the calling key's; that " +
      "of the calling key when absent.",
  }),
}).openapi("MailApiKeyRequest");

export function keyRoutes(limits: Limits): DescribedRoutes {
  return {
    createMailKey: {
      description: "Makes an API key, **shown once**. One of scope `inbox` opens a single inbox: " +
        `give each agent its own. At most ${limits.mailKeysPerOrg} keys an org.`,
      body: { description: "Unknown fields are ignored.", schema: KeyRequest },
      answers: {
        201: {
          description: "The key.",
          headers: ["Cache-Control"],
          content: { schema: NewKey },
        },
      },
      errors: {
        not_found: "the org has no inbox with this id or address",
        insufficient_permission:
          "the calling key is inbox-scoped or read-only, or has not what the new one is to have",
        key_limit_reached: null,
      },
    },
    listMailKeys: {
      description: "The org's keys, the oldest first, never the secrets.",
      query: PageQuery,
      answers: {
        200: {
          description: "A page of keys.",
          headers: ["Cache-Control"],
          content: { schema: pageOf(Key) },
        },
      },
    },
    readMailKey: {
      description: "One key's record.",
      answers: {
        200: { description: "The key.", headers: ["Cache-Control"], content: { schema: Key } },
      },
      errors: { not_found: "the org has no such key" },
    },
    deleteMailKey: {
      description: "Deletes a key: at once nobody gets in with it. The last org-scoped one with " +
        "`inbox:write` stays.",
      answers: { 204: { description: "Deleted." } },
      errors: { not_found: "the org has no such key", last_key: null },
    },
  };
}
