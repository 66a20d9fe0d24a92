/** The webhooks of every org as local mode shows them, in which all orgs are one person's. */
import type { Store } from "../../base/storage/rows/store.ts";
import { shownDelivery, webhookKey, type WebhookRecord } from "../records/webhook_record.ts";
import type { Webhooks } from "./webhooks.ts";
import type { WebhookSecrets } from "./webhook_secrets.ts";

export interface LocalWebhooksServices {
  store: Pick<Store, "list" | "now">;
  webhooks: Pick<Webhooks, "deliveries">;
  secrets: Pick<WebhookSecrets, "texts">;
}

const MOST_WEBHOOKS = 100;
const MOST_DELIVERIES = 100;

export function localWebhooks({ store, webhooks, secrets }: LocalWebhooksServices) {
  const all = async () => {
    const rows = await store.list<WebhookRecord>({ prefix: webhookKey.under() }, {
      limit: MOST_WEBHOOKS,
    });
    return rows.map(({ value }) => value);
  };
  return {
    /** With the secrets that sign now. */
    async known() {
      return await Promise.all(
        (await all()).map(async (webhook) => ({
          id: webhook.id,
          url: webhook.url,
          secrets: await secrets.texts(webhook, store.now()),
        })),
      );
    },
    /** Attempts of all, the newest first. */
    async recentDeliveries() {
      const logs = await Promise.all(
        (await all()).map(async (webhook) => {
          const { rows } = await webhooks.deliveries(webhook, null, MOST_DELIVERIES);
          return rows.map((row) => ({
            webhook_id: webhook.id,
            url: webhook.url,
            ...shownDelivery(row),
          }));
        }),
      );
      return logs.flat().sort((a, b) => b.at < a.at ? -1 : 1).slice(0, MOST_DELIVERIES);
    },
  };
}
