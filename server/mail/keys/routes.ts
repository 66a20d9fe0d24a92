/** Routes of API keys: /v1/mail/api-keys (specification, 4.7 and 5.3). */
import { z } from "@hono/zod-openapi";
import { time } from "../../base/description/schemas/values.ts";
import { answerJson, NO_STORE } from "../../base/http/answers/answer.ts";
import { noContent } from "../../base/http/answers/no_content.ts";
import type { MailCore } from "../mailbox/mail_core.ts";
import { type KeyedRequest, keyRoute } from "../access/mail_route.ts";
import { keysKey, type KeysRecord, type MailKey, shownKey } from "../records/key_record.ts";
import { mailId, newApiKey, pageOf, PageQuery, unkept } from "../access/schemas.ts";
import { unknownObject } from "../access/unknown_object.ts";
import { createKey, deleteKey } from "./keys.ts";
import { readKeyRequest } from "./key_request.ts";

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
  api_key: newApiKey(),
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

const createMailKey = keyRoute({
  method: "POST",
  path: "/v1/mail/api-keys",
  id: "createMailKey",
  may: "orgWrite",
  summary: "Create an API key",
  note: "With an org-scoped key. The full key is shown once.",
  words: ({ limits }) => ({
    description: "Makes an API key, **shown once**. One of scope `inbox` opens a single inbox: " +
      `give each agent its own. At most ${limits.mailKeysPerOrg} keys an org.`,
    body: { description: "Unknown fields are ignored.", schema: KeyRequest },
    answers: {
      201: unkept("The key.", NewKey),
    },
    errors: {
      not_found: "the org has no inbox with this id or address",
      insufficient_permission:
        "the calling key is inbox-scoped or read-only, or has not what the new one is to have",
      key_limit_reached: null,
    },
  }),
  handle: (services: MailCore) => async (request) => {
    const { inboxes, now } = services;
    const asked = readKeyRequest(await request.body(), request.key, now());
    const inboxId = asked.inboxId && (await inboxes.find(request, asked.inboxId)).id;
    const { key, apiKey } = await createKey(services, request, { ...asked, inboxId });
    return answerJson({ ...shownKey(key, null), api_key: apiKey }, 201, NO_STORE);
  },
});

const listMailKeys = keyRoute({
  method: "GET",
  path: "/v1/mail/api-keys",
  id: "listMailKeys",
  may: "orgRead",
  summary: "List API keys",
  words: {
    description: "The org's keys, the oldest first, never the secrets.",
    query: PageQuery,
    answers: {
      200: unkept("A page of keys.", pageOf(Key)),
    },
  },
  handle: (services: MailCore) => async ({ c, org }) => {
    const page = await services.pages.read(c, { org: org.id });
    const afterId = page.after === null ? "" : page.after[0] as string;
    const all = await keysOf(services, org.id);
    // By id, as cursors go on: keys of one millisecond stand in no order of their ids.
    const rest = all.filter(({ id }) => id > afterId).toSorted((a, b) => a.id < b.id ? -1 : 1);
    const keys = rest.slice(0, page.limit);
    const last = keys.at(-1);
    const more = last !== undefined && rest.length > keys.length;
    return page.answer(await shown(services, org.id, keys), more ? [last.id] : null);
  },
});

const readMailKey = keyRoute({
  method: "GET",
  path: "/v1/mail/api-keys/{id}",
  id: "readMailKey",
  may: "orgRead",
  summary: "Read an API key",
  addition: true,
  words: {
    description: "One key's record.",
    answers: {
      200: unkept("The key.", Key),
    },
    errors: { not_found: "the org has no such key" },
  },
  handle: (services: MailCore) => async (request) => {
    const [key] = await shown(services, request.org.id, [await find(services, request)]);
    return answerJson(key, 200, NO_STORE);
  },
});

const deleteMailKey = keyRoute({
  method: "DELETE",
  path: "/v1/mail/api-keys/{id}",
  id: "deleteMailKey",
  may: "orgWrite",
  summary: "Delete an API key",
  words: {
    description: "Deletes a key: at once nobody gets in with it. The last org-scoped one with " +
      "`inbox:write` stays.",
    answers: { 204: { description: "Deleted." } },
    errors: { not_found: "the org has no such key", last_key: null },
  },
  handle: (services: MailCore) => async (request) => {
    await deleteKey(services, request, (await find(services, request)).id);
    return noContent();
  },
});

export const KEY_ROUTES = [createMailKey, listMailKeys, readMailKey, deleteMailKey];

async function keysOf({ records }: MailCore, orgId: string): Promise<readonly MailKey[]> {
  return (await records.read<KeysRecord>(keysKey(orgId)))?.keys ?? [];
}

async function find(services: MailCore, { org, params }: KeyedRequest): Promise<MailKey> {
  const key = (await keysOf(services, org.id)).find(({ id }) => id === params["id"]);
  if (key === undefined) throw unknownObject("API key");
  return key;
}

async function shown({ lastUsed }: MailCore, orgId: string, keys: readonly MailKey[]) {
  const used = await lastUsed.read(orgId, keys.map(({ id }) => id));
  return keys.map((key) => shownKey(key, used.get(key.id) ?? null));
}
