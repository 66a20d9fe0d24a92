/** What stands under Idempotency-Keys: it counts, and what is deleted is deleted there too, but never sent again. */
import assert from "node:assert/strict";
import { blobFilesIn } from "../../support/blob_rig.ts";
import { decide, makeDraftWorld, newestApproval, sentMessages } from "../../support/draft_world.ts";
import { accepted, assertMailRefused, type MailKeyHolder } from "../../support/mail_caller.ts";
import { type MailAnswer, startMailRelay } from "../../support/mail_relay.ts";
import { rowsNaming, startMailStore } from "../../support/mail_store.ts";
import { openMemoryKv, rawOf, SAVED_AT_ONCE, untilSaved } from "../../support/read_through.ts";
import type { TestRelay } from "../../support/relay.ts";
import { deliver, newSendingOrg, send, takenFor } from "../../support/sending_org.ts";

const HOUR_MS = 3_600_000;
const SECRET = "the-word-that-nobody-may-find";

/** An answer in a row, and one in a blob. */
const TEXTS = [SECRET, `${SECRET} ${"x".repeat(60_000)}`];

async function usedBytes(by: MailKeyHolder): Promise<number> {
  return accepted(await by.ask("GET", "/v1/mail/usage"), 200).storage_bytes.used;
}

/** Hours with the relay's sweeps. */
async function sweep({ clock, relay }: TestRelay, hours: number): Promise<void> {
  for (let i = 0; i < hours; i++) {
    clock.advance(HOUR_MS);
    await relay.crons["figures"]!();
  }
}

/** Where a word stands in store and files: rows of the outgoing queue and captured mails are no stored answers. */
async function findText({ deps: { kv, config } }: TestRelay, text: string): Promise<string[]> {
  const found: string[] = [];
  const needle = new TextEncoder().encode(text);
  const has = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes).includes(text);
  for await (const { key, value } of kv.list({ prefix: [] })) {
    const seen: unknown[] = [value];
    const texts: string[] = [];
    while (seen.length > 0) {
      const one = seen.pop();
      if (one instanceof Uint8Array) {
        if (one.length >= needle.length && has(one)) texts.push("bytes");
      } else if (typeof one === "string") {
        if (one.includes(text)) texts.push(one);
      } else if (typeof one === "object" && one !== null) seen.push(...Object.values(one));
    }
    if (texts.length > 0) found.push(key.join("/"));
  }
  for (const path of await blobFilesIn(config.dataDir)) {
    if (has(await Deno.readFile(path))) found.push(path);
  }
  return found;
}

function assertReduced(repeated: MailAnswer, first: MailAnswer): void {
  const body = accepted(repeated, 202);
  assert.equal(repeated.headers.get("idempotent-replayed"), "true");
  assert.equal(body.id, first.body.id);
  assert.equal(body.thread_id, first.body.thread_id);
  assert.equal(body.created_at, first.body.created_at);
  assert.deepEqual(body.parse_warnings, ["deleted"]);
  assert.deepEqual([body.to, body.recipients, body.text, body.subject], [[], [], null, null]);
  assert.ok(!JSON.stringify(body).includes(SECRET));
  assert.ok(!JSON.stringify(body).includes("ann@example.org"));
}

Deno.test("a deleted message's answer goes with it, and its repetition sends nothing and tells ids alone", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox();
  assert.equal(TEXTS.length, 2);
  for (const [i, text] of TEXTS.entries()) {
    const headers = { "Idempotency-Key": `key ${i}` };
    const body = { text, subject: SECRET };
    const first = await send(owner, inbox, body, headers);
    assert.deepEqual((await send(owner, inbox, body, headers)).body, accepted(first, 202));
    await deliver(relay);
    accepted(await owner.ask("DELETE", `/v1/mail/messages/${first.body.id}`), 204);
    assertReduced(await send(owner, inbox, body, headers), first);
    // Another request under the key is still refused.
    assert.equal((await send(owner, inbox, { text: "other" }, headers)).status, 422);
  }
  await sweep(relay, 3);
  assert.deepEqual(await findText(relay, SECRET), []);
  await deliver(relay);
  assert.equal((await takenFor(relay, "ann@example.org")).length, 2);
  const left = await usedBytes(owner);
  assert.ok(left > 0 && left < 2 * 2_000, `${left} bytes`);
  await sweep(relay, 27);
  assert.equal(await usedBytes(owner), 0);
});

Deno.test("a message that is deleted under a clock that has leapt takes its answer along too", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox();
  const headers = { "Idempotency-Key": "key" };
  const body = { text: SECRET, subject: SECRET };
  const first = await send(owner, inbox, body, headers);
  await deliver(relay);
  const remove = () => owner.ask("DELETE", `/v1/mail/messages/${first.body.id}`);
  relay.clock.leap(27 * HOUR_MS);
  assertMailRefused(await remove(), "unavailable");
  relay.clock.advance(75_000);
  accepted(await remove(), 204);
  relay.clock.leap(-27 * HOUR_MS);
  assertReduced(await send(owner, inbox, body, headers), first);
  await sweep(relay, 3);
  assert.deepEqual(await findText(relay, SECRET), []);
  await sweep(relay, 25);
  assert.equal(await usedBytes(owner), 0);
});

Deno.test("stored answers count in storage for as long as they stand", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox();
  for (const [i, text] of TEXTS.entries()) {
    const plain = await usedBytes(owner);
    const without = accepted(await send(owner, inbox, { text }), 202);
    const between = await usedBytes(owner);
    accepted(await send(owner, inbox, { text }, { "Idempotency-Key": `key ${i}` }), 202);
    const more = await usedBytes(owner) - between - (between - plain);
    const answer = JSON.stringify(without).length;
    assert.ok(Math.abs(more - answer) < 200, `${more} bytes for an answer of ${answer}`);
  }
  const before = await usedBytes(owner);
  await sweep(relay, 25);
  assert.equal(await usedBytes(owner), before);
  await sweep(relay, 3);
  const { data } = accepted(
    await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages?limit=100`),
    200,
  );
  assert.equal(data.length, 4);
  let kept = 0;
  for (const path of await blobFilesIn(relay.deps.config.dataDir)) {
    kept += (await Deno.stat(path)).size;
  }
  assert.equal(await usedBytes(owner), kept);
});

Deno.test("what is deleted stands in no row of the journal either, once that is saved", async () => {
  using kv = await openMemoryKv();
  await using relay = await startMailRelay({
    deps: { kv },
    relay: { journalBounds: SAVED_AT_ONCE },
  });
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox();
  accepted(await send(owner, inbox, { text: SECRET }, { "Idempotency-Key": "key" }), 202);
  const holding = async () => (await rowsNaming(rawOf(kv), SECRET)).length;
  await deliver(relay);
  assert.ok(await holding() > 0);
  accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${inbox.id}`), 204);
  await sweep(relay, 3);
  await untilSaved(kv);
  assert.equal(await holding(), 0);
});

Deno.test("the end of an inbox takes its answers along", async () => {
  await using relay = await startMailRelay();
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox();
  assert.equal(TEXTS.length, 2);
  for (const [i, text] of TEXTS.entries()) {
    accepted(await send(owner, inbox, { text }, { "Idempotency-Key": `key ${i}` }), 202);
  }
  await deliver(relay);
  accepted(await owner.ask("DELETE", `/v1/mail/inboxes/${inbox.id}`), 204);
  await sweep(relay, 3);
  assert.deepEqual(await findText(relay, SECRET), []);
  await sweep(relay, 26);
  assert.equal(await usedBytes(owner), 0);
});

Deno.test("a discarded or rejected proposal leaves ids under its key; of one that was sent, the message's end does", async () => {
  await using relay = await startMailRelay();
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  assert.equal(TEXTS.length, 2);
  for (const [i, text] of TEXTS.entries()) {
    for (const end of ["discarded", "rejected", "sent"] as const) {
      const headers = { "Idempotency-Key": `${end} ${i}` };
      const body = { text, subject: SECRET };
      const first = await send(agent, inbox, body, headers);
      assert.equal(accepted(first, 202).status, "pending_approval");
      const { draft } = first.body;
      if (end === "discarded") {
        accepted(await agent.ask("DELETE", `/v1/mail/drafts/${draft.id}`), 204);
      } else {
        const action = end === "sent" ? "approve" : "reject";
        accepted(await decide(relay, await newestApproval(relay), action), 200);
      }
      if (end === "sent") {
        assert.deepEqual((await send(agent, inbox, body, headers)).body, first.body);
        const [message] = await sentMessages(owner, inbox.id);
        await deliver(relay);
        accepted(await owner.ask("DELETE", `/v1/mail/messages/${message.id}`), 204);
      }
      const repeated = await send(agent, inbox, body, headers);
      assert.equal(accepted(repeated, 202).status, "pending_approval");
      assert.equal(repeated.headers.get("idempotent-replayed"), "true");
      assert.equal(repeated.body.draft.id, draft.id);
      assert.deepEqual([repeated.body.draft.to, repeated.body.draft.text], [[], null]);
      assert.ok(!JSON.stringify(repeated.body).includes(SECRET));
    }
  }
  await sweep(relay, 3);
  assert.deepEqual(await findText(relay, SECRET), []);
  await sweep(relay, 26);
  assert.equal(await usedBytes(owner), 0);
});

Deno.test("a large answer that a former version kept goes, and is not counted out: it was never in", async () => {
  await using store = await startMailStore();
  const { relay, kv } = store;
  const owner = await newSendingOrg(relay);
  const inbox = await owner.inbox();
  accepted(await send(owner, inbox, { text: "x".repeat(50_000) }), 202);
  const before = await usedBytes(owner);
  const name = [owner.orgId, inbox.id, "01KT1GW6G0KJC699GRBGTEDF2E"];
  const blob = { name, sections: [{ sizeBytes: 40_000, sha256: "x" }] };
  await kv.set(["blob", ...name], { v: 1, sizeBytes: 40_000 });
  await kv.set(["mail-answer", relay.clock.now(), name[2]!], { v: 1, blob });
  await sweep(relay, 25);
  assert.notEqual((await kv.get(["blob", ...name])).value, null, "its key may still stand");
  await sweep(relay, 3);
  assert.equal(await usedBytes(owner), before);
  assert.equal((await kv.get(["blob", ...name])).value, null);
  for (const prefix of ["mail-answer", "blob-deletion"]) {
    assert.deepEqual(await Array.fromAsync(kv.list({ prefix: [prefix] })), []);
  }
});
