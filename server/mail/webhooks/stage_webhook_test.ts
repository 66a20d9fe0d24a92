import assert from "node:assert/strict";
import { RelayError } from "../../base/errors.ts";
import type { Transaction } from "../../base/storage/commits/job.ts";
import { HOUR_MS } from "../../base/time/time_units.ts";
import { newOrg, type OrgRecord } from "../records/org_record.ts";
import type { DeliveredEvent, WebhookRecord } from "../records/webhook_record.ts";
import { SINGLES_AN_HOUR, stageSingle } from "./stage_webhook.ts";

const NOW_MS = Date.UTC(2026, 5, 1);
const EVENT: DeliveredEvent = {
  orgId: "org_1",
  inboxId: "",
  objectId: "wh_1",
  eventId: "evt_1",
  type: "webhook.test",
  createdAtMs: NOW_MS,
};

Deno.test("stageSingle() stages so many of an org an hour, whichever webhooks it makes for them", () => {
  let org: OrgRecord = newOrg("org_1", NOW_MS);
  const stage = (n: number, nowMs: number) => {
    // Each is a new one, for which nothing waits.
    const webhook = {
      id: `wh_${n}`,
      orgId: org.id,
      url: "https://a.example/",
      single: 0,
      epoch: 1,
    };
    const transaction = {
      nowMs,
      set: () => {},
      announce: () => {},
      putRecord: ([table]: Deno.KvKey, value: unknown) => {
        if (table === "mail-org") org = value as OrgRecord;
      },
    } as unknown as Transaction;
    stageSingle(transaction, org, webhook as WebhookRecord, EVENT, (size) => new Uint8Array(size));
  };
  for (let n = 0; n < SINGLES_AN_HOUR; n++) stage(n, NOW_MS + 3 * n);
  const isRefused = (error: unknown) =>
    error instanceof RelayError && error.code === "rate_limited" && error.status === 429;
  assert.throws(() => stage(0, NOW_MS + HOUR_MS / 2), isRefused);
  stage(0, NOW_MS + 2 * HOUR_MS);
  assert.ok(JSON.stringify(org.webhookSingles).length < 2_000);
});
