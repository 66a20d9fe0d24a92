/** Routes of API keys: /v1/mail/api-keys. */
import { answerJson, NO_STORE } from "../../http/answer.ts";
import { noContent } from "../../http/no_content.ts";
import type { RecordCache } from "../../storage/record_cache.ts";
import type { Inboxes } from "../inboxes/inboxes.ts";
import type { ListPages } from "../list_pages.ts";
import type { KeyedRequest, MailHandlers } from "../mail_routes.ts";
import { keysKey, type KeysRecord, type MailKey, shownKey } from "../records/key_record.ts";
import { unknownObject } from "../unknown_object.ts";
import { createKey, deleteKey, type KeyServices } from "./keys.ts";
import { readKeyRequest } from "./key_request.ts";
import type { LastUsed } from "./last_used.ts";

export interface KeyRouteServices extends KeyServices {
  records: Pick<RecordCache, "read">;
  inboxes: Inboxes;
  lastUsed: LastUsed;
  pages: ListPages;
  now: () => number;
}

export function keyHandlers(services: KeyRouteServices) {
  const { records, inboxes, lastUsed, pages, now } = services;

  const keysOf = async (orgId: string): Promise<readonly MailKey[]> =>
    (await records.read<KeysRecord>(keysKey(orgId)))?.keys ?? [];

  async function find({ org, params }: KeyedRequest): Promise<MailKey> {
    const key = (await keysOf(org.id)).find(({ id }) => id === params["id"]);
    if (key === undefined) throw unknownObject("API key");
    return key;
  }

  async function shown(orgId: string, keys: readonly MailKey[]) {
    const used = await lastUsed.read(orgId, keys.map(({ id }) => id));
    return keys.map((key) => shownKey(key, used.get(key.id) ?? null));
  }

  return {
    async createMailKey(request) {
      const asked = readKeyRequest(await request.body(), request.key, now());
      const inboxId = asked.inboxId && (await inboxes.find(request, asked.inboxId)).id;
      const { key, apiKey } = await createKey(services, request, { ...asked, inboxId });
      return answerJson({ ...shownKey(key, null), api_key: apiKey }, 201, NO_STORE);
    },
    async listMailKeys({ c, org }) {
      const page = await pages.read(c, { org: org.id });
      const afterId = page.after === null ? "" : page.after[0] as string;
      const all = await keysOf(org.id);
      // By id, as cursors go on: keys of one millisecond stand in no order of their ids.
      const rest = all.filter(({ id }) => id > afterId).toSorted((a, b) => a.id < b.id ? -1 : 1);
      const keys = rest.slice(0, page.limit);
      const last = keys.at(-1);
      const more = last !== undefined && rest.length > keys.length;
      return page.answer(await shown(org.id, keys), more ? [last.id] : null);
    },
    async readMailKey(request) {
      const [key] = await shown(request.org.id, [await find(request)]);
      return answerJson(key, 200, NO_STORE);
    },
    async deleteMailKey(request) {
      await deleteKey(services, request, (await find(request)).id);
      return noContent();
    },
  } satisfies MailHandlers;
}
