/** Answers under an Idempotency-Key as former versions stored them: they are read, and still written so, with what the store had lived. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { JsonObject } from "../../../toolkit/mod.ts";
import { assertRefused, assertStatus } from "../../support/answer.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import { startTestRelay } from "../../support/relay.ts";
import { registerAgent } from "../../support/test_agent.ts";
import { ToolAgent } from "../../support/tool_client.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64url");

Deno.test("Idempotency-Key answers from a record of the former layout, and writes the same one without the attempt, with what the store had lived", async () => {
  const kv = await openMemoryKv();
  try {
    await using relay = await startTestRelay({ deps: { kv } });
    const sender = await ToolAgent.register(relay.url, "sender");
    const receiver = await registerAgent(relay, "receiver");
    const send = (body: JsonObject, key: string) =>
      sender.rest("POST", "/v1/messages", body, { "Idempotency-Key": key });
    const agentId = (await kv.get<{ id: number }>(["handle", "sender"])).value!.id;

    const former = {
      v: 1,
      attempt: "0123456789abcdef01234567",
      // SHA-256 of these very bytes: {"body":"hi","content_type":"text","to":"receiver"}
      fingerprint: sha256('{"body":"hi","content_type":"text","to":"receiver"}'),
      id: 4711,
      contentHash: "ab".repeat(32),
      createdAtMs: relay.clock.now() - 1000,
    };
    await kv.set(["idempotency", agentId, sha256("old")], former);
    const replayed = await send({ to: "receiver", body: "hi" }, "old");
    assertStatus(replayed, 201);
    assert.equal(replayed.headers.get("idempotent-replayed"), "true");
    assert.equal(replayed.json.id, 4711);
    assert.equal(replayed.json.content_hash, former.contentHash);
    assert.equal(Date.parse(replayed.json.created_at), former.createdAtMs);
    assertRefused(await send({ to: "receiver", body: "ho" }, "old"), "idempotency_key_reused");
    assert.equal((await receiver.inbox()).length, 0);

    const sent = await send({ to: "receiver", body: "hi" }, "new");
    assertStatus(sent, 201);
    const { value } = await kv.get<typeof former>(["idempotency", agentId, sha256("new")]);
    assert.deepEqual(
      Object.entries(value!),
      Object.entries({
        v: 1,
        fingerprint: former.fingerprint,
        id: sent.json.id,
        contentHash: sent.json.content_hash,
        createdAtMs: Date.parse(sent.json.created_at),
        livedMs: relay.clock.elapsed(),
      }),
    );
  } finally {
    kv.close();
  }
});
