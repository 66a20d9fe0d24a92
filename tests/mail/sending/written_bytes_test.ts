/** What requests of an org write is bounded by the hour, whichever route they take and whatever becomes of it. */
import assert from "node:assert/strict";
import { blobFilesIn } from "../../support/blob_rig.ts";
import { decide, makeDraftWorld, newDraft, newestApproval } from "../../support/draft_world.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import {
  accepted,
  assertMailRefused,
  type MailKeyHolder,
  newOrg,
} from "../../support/mail_caller.ts";
import { startMailPair } from "../../support/mail_pair.ts";
import { type MailAnswer, startMailRelay } from "../../support/mail_relay.ts";
import { callMail } from "../../support/mail_tools.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import type { TestRelay } from "../../support/relay.ts";
import { send } from "../../support/sending_org.ts";

const HOUR_MS = 3_600_000;
const KIB = 1024;

async function diskBytes({ deps }: TestRelay): Promise<number> {
  let bytes = 0;
  for (const path of await blobFilesIn(deps.config.dataDir)) bytes += (await Deno.stat(path)).size;
  return bytes;
}

async function writtenBytes({ deps: { kv } }: TestRelay, orgId: string): Promise<number> {
  const { value } = await kv.get<{ window: number[] }>(["mail-written", orgId, "bytes"]);
  return (value?.window ?? []).filter((_, i) => i % 2 === 1).reduce((sum, one) => sum + one, 0);
}

const file = (bytes: number) => ({
  filename: "a.bin",
  content_type: "application/octet-stream",
  content: btoa("x".repeat(bytes)),
});

/** Every request that makes the relay write blobs, at a relay that may be another each time. */
async function openWriters(relay: TestRelay) {
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  const direct = await owner.inbox();
  const raw = mailText({ text: "x".repeat(20_000) });
  const timestamp = relay.clock.seconds();
  accepted(await handIn(relay.url, { to: [direct.address], raw, timestamp }), 200);
  const list = `/v1/mail/inboxes/${direct.id}/messages`;
  const { data: [received] } = accepted(await owner.ask("GET", list), 200);
  const draft = await newDraft(owner, direct.id, { to: "ann@example.org", text: "a" });
  const later = await newDraft(owner, direct.id, { to: "ann@example.org", text: "b" });
  await newDraft(agent, inbox.id, { to: "ann@example.org", text: "c" });
  const asked = await newestApproval(relay);
  const text = "x".repeat(40_000);
  let keys = 0;
  const key = () => ({ "Idempotency-Key": `key ${++keys}` });
  const tool = async (at: TestRelay, name: string, args: object): Promise<MailAnswer> => {
    const { isError, text: body } = await callMail(owner.at(at), name, { ...args });
    return { status: isError ? 429 : 202, headers: new Headers({ "retry-after": "1" }), body };
  };
  const message = `/v1/mail/messages/${received.id}`;
  const writers: Record<string, (at: TestRelay) => Promise<MailAnswer>> = {
    send: (at) => send(owner.at(at), direct, { text, attachments: [file(100_000)] }),
    "send under a key": (at) => send(owner.at(at), direct, { text }, key()),
    "send that waits for approval": (at) => send(agent.at(at), inbox, { text }, key()),
    reply: (at) => owner.at(at).ask("POST", `${message}/reply`, { body: { text } }),
    forward: (at) =>
      owner.at(at).ask("POST", `${message}/forward`, { body: { to: "ann@example.org" } }),
    "create a draft": (at) =>
      owner.at(at).ask("POST", `/v1/mail/inboxes/${direct.id}/drafts`, { body: { text } }),
    "change a draft": (at) =>
      owner.at(at).ask("PATCH", `/v1/mail/drafts/${draft.id}`, {
        body: { text, attachments: [file(50_000)] },
      }),
    "send a draft": (at) =>
      owner.at(at).ask("POST", `/v1/mail/drafts/${later.id}/send`, { headers: key() }),
    "approve a draft": (at) => decide(at, asked, "approve"),
    "the tool send_email": (at) =>
      tool(at, "send_email", { inbox_id: direct.id, to: ["ann@example.org"], text }),
    "the tool reply_to_message": (at) =>
      tool(at, "reply_to_message", { message_id: received.id, text }),
  };
  return { owner, writers };
}

Deno.test("every request that writes counts what it writes, and beyond the limit writes nothing", async () => {
  using kv = await openMemoryKv();
  const dataDir = await Deno.makeTempDir({ prefix: "relay-written-" });
  try {
    const first = await startMailRelay({ config: { dataDir }, deps: { kv } });
    const { owner, writers } = await openWriters(first);
    const names = Object.keys(writers);
    assert.equal(names.length, 11);
    // Refused first: an accepted one would leave no draft to send.
    await first.stop();
    const full = await startMailRelay({
      config: { dataDir },
      deps: { kv },
      limits: { mailWrittenBytesPerOrgPerHour: 0 },
    });
    const disk = await diskBytes(full);
    for (const name of names) {
      const answer = await writers[name]!(full);
      assert.equal(answer.status, 429, `${name}: ${JSON.stringify(answer.body).slice(0, 200)}`);
      assert.ok(Number(answer.headers.get("retry-after")) >= 1, name);
      assert.equal(await diskBytes(full), disk, name);
    }
    await full.stop();
    const again = await startMailRelay({ config: { dataDir }, deps: { kv } });
    for (const name of names) {
      const before = [await diskBytes(again), await writtenBytes(again, owner.orgId)] as const;
      const answer = await writers[name]!(again);
      assert.ok(answer.status < 300, `${name}: ${JSON.stringify(answer.body).slice(0, 200)}`);
      const disk = await diskBytes(again) - before[0];
      const written = await writtenBytes(again, owner.orgId) - before[1];
      assert.ok(disk > 0 && written >= disk, `${name}: ${disk} on the disk, ${written} counted`);
    }
    await again.stop();
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

Deno.test("nothing else of the mail area writes blobs but what receives, and what makes events of that", async () => {
  const root = new URL("../../../server/mail/", import.meta.url);
  const found: string[] = [];
  async function look(folder: URL): Promise<void> {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = new URL(isDirectory ? `${name}/` : name, folder);
      if (isDirectory) await look(path);
      else if (/\bblobs\.write\(/.test(await Deno.readTextFile(path))) {
        found.push(path.pathname.slice(root.pathname.length));
      }
    }
  }
  await look(root);
  assert.deepEqual(found.sort(), [
    "core/written_blobs.ts",
    "receiving/operator_mail.ts",
    "receiving/receiver.ts",
    "webhooks/event_making.ts",
  ]);
});

Deno.test("the limit of a trial slides, counts what was replaced, and holds over two processes", async () => {
  await using pair = await startMailPair({
    limits: { mailWrittenBytesPerTrialPerHour: 200 * KIB },
  });
  const [one, two] = pair.relays;
  const holder = await newOrg(one);
  const inbox = await holder.inbox();
  const { id } = await newDraft(holder, inbox.id, { text: "Hello" }); // at least 4 KiB
  const change = (by: MailKeyHolder, bytes: number) =>
    by.ask("PATCH", `/v1/mail/drafts/${id}`, { body: { attachments: [file(bytes)] } });
  pair.clock.advance(HOUR_MS / 2);
  accepted(await change(holder, 90 * KIB), 200);
  accepted(await change(holder.at(two), 90 * KIB), 200);
  for (const relay of [one, two]) {
    const refused = await change(holder.at(relay), 90 * KIB);
    assertMailRefused(refused, "rate_limited", /204800 bytes an hour/);
    assert.equal(refused.headers.get("retry-after"), String(HOUR_MS / 1000));
  }
  // What is refused counts nothing: a smaller one fits.
  accepted(await change(holder.at(two), 10 * KIB), 200);
  pair.clock.advance(HOUR_MS - 10_000);
  assertMailRefused(await change(holder.at(two), 90 * KIB), "rate_limited");
  pair.clock.advance(10_000);
  accepted(await change(holder.at(two), 90 * KIB), 200);
});

Deno.test("many tiny writes count as what they take of a disk", async () => {
  await using relay = await startMailRelay({
    limits: { mailWrittenBytesPerTrialPerHour: 40 * KIB },
  });
  const holder = await newOrg(relay);
  const inbox = await holder.inbox();
  const { id } = await newDraft(holder, inbox.id, { text: "0" });
  for (let i = 1; i < 10; i++) {
    accepted(
      await holder.ask("PATCH", `/v1/mail/drafts/${id}`, { body: { text: String(i) } }),
      200,
    );
  }
  assertMailRefused(
    await holder.ask("PATCH", `/v1/mail/drafts/${id}`, { body: { text: "10" } }),
    "rate_limited",
  );
  // Where the write is refused, so is what would be made for it: a limit stands before a conflict.
  accepted(await holder.ask("DELETE", `/v1/mail/drafts/${id}`), 204);
  assertMailRefused(
    await holder.ask("POST", `/v1/mail/inboxes/${inbox.id}/drafts`, { body: {} }),
    "rate_limited",
  );
});

Deno.test("what is refused after it was written leaves nothing on the disk", async () => {
  await using relay = await startMailRelay({ limits: { mailStorageBytesFirstDay: 300 * KIB } });
  const { owner } = await makeDraftWorld(relay);
  const inbox = await owner.inbox();
  const body = { text: "Hello", attachments: [file(120 * KIB)] };
  accepted(await send(owner, inbox, body), 202);
  const disk = await diskBytes(relay);
  for (let i = 0; i < 5; i++) {
    assertMailRefused(
      await send(owner, inbox, body, { "Idempotency-Key": `k${i}` }),
      "unavailable",
    );
  }
  // Both fit the look before they are written, and one of them the commit.
  const small = { text: "Hello", attachments: [file(50 * KIB)] };
  const answers = await Promise.all([1, 2, 3].map(() => send(owner, inbox, small)));
  const taken = answers.filter(({ status }) => status === 202).length;
  assert.ok(taken >= 1 && taken < 3, `${taken}`);
  const { storage_bytes } = accepted(await owner.ask("GET", "/v1/mail/usage"), 200);
  assert.equal(await diskBytes(relay), storage_bytes.used);
  assert.ok(storage_bytes.used <= 300 * KIB && storage_bytes.used > disk);
});
