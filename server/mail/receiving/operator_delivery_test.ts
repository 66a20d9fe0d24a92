import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { openTestStorage } from "../../../tests/support/storage.ts";
import { BlobDamaged } from "../../base/blobs/blobs.ts";
import type { BlobRef } from "../../base/blobs/blobs.ts";
import type { MailOutcome } from "../../base/mailer/mailer.ts";
import { DAY_MS, MINUTE_MS } from "../../base/time/time_units.ts";
import { operatorDelivery } from "./operator_delivery.ts";

const refused = (code: number): MailOutcome => ({
  result: "refused",
  stage: "recipient",
  permanent: code >= 500,
  reason: `${code} at RCPT TO`,
  reply: { code, enhancedCode: null, text: "" },
  isReached: true,
});

Deno.test("operatorDelivery() tries for two days, takes a permanent refusal for the last word, and sends nothing damaged", async () => {
  using kv = await openMemoryKv();
  const { store, clock, close } = await openTestStorage(kv);
  let said = refused(451);
  let read = () => Promise.resolve(new Uint8Array(1));
  const sentTo: string[] = [];
  const handler = operatorDelivery({
    store,
    blobs: { read: () => read(), drop: () => {} },
    random: store.random,
    composer: { compose: () => Promise.resolve(new Uint8Array(1)) },
    from: { name: "Relay", address: "relay@relay.test" },
    operator: "operator@host.test",
    mailer: {
      send({ to }) {
        sentTo.push(to);
        return Promise.resolve(said);
      },
      close: () => Promise.resolve(),
    },
  });
  const queuedAtMs = clock.now();
  const attempt = () =>
    handler.attempt({
      id: "operator/1",
      payload: { v: 1, blob: {} as BlobRef, from: "a@host.test", to: "abuse@agents.test" },
      queuedAtMs,
      livedMs: clock.now() - queuedAtMs,
      attempts: 1,
      signal: new AbortController().signal,
      commitData: () => Promise.resolve(),
    });
  const later = await attempt();
  assert.ok(later.result === "retry" && later.payload === undefined);
  assert.ok(Math.abs(later.afterMs - MINUTE_MS) <= MINUTE_MS / 10);
  assert.equal(later.endsAtMs, queuedAtMs + 2 * DAY_MS);
  assert.deepEqual(sentTo, ["operator@host.test"]);
  said = refused(550);
  assert.deepEqual(await attempt(), { result: "dead", reason: "refused: 550 at RCPT TO" });
  read = () => Promise.reject(new BlobDamaged(["operator", "1"], "missing"));
  assert.deepEqual(await attempt(), { result: "dead", reason: "damaged", untried: true });
  clock.advance(2 * DAY_MS);
  assert.deepEqual(await attempt(), { result: "dead", reason: "expired", untried: true });
  assert.equal(sentTo.length, 2);
  await close();
});
