/** A relay that is killed at each step of sending: what it says is true, nothing twice, nothing lost. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { accepted, type MailKeyHolder } from "../../support/mail_caller.ts";
import { auditStorage } from "../../support/mailbox_audit.ts";
import { openKvFile } from "../../support/read_through.ts";
import { makeStoreFolder } from "../../support/relay.ts";
import { delay } from "../../support/pace.ts";
import {
  type ScriptedSmtp,
  type SmtpStep,
  startScriptedSmtp,
} from "../../support/scripted_smtp.ts";
import { readMessage, send } from "../../support/sending_org.ts";
import { newClaimedOrg } from "../../support/spawned_org.ts";
import { type SpawnedRelay, spawnRelay } from "../../support/spawn_relay.ts";

const PATIENCE_MS = 20_000;

interface World extends AsyncDisposable {
  smtp: ScriptedSmtp;
  owner: MailKeyHolder;
  inbox: { id: string };
  /** Ends the relay as a power cut would, and starts it again on its store. */
  kill(): Promise<void>;
  /** Ends it so, and asserts that what its store keeps of bytes is what counts. */
  audit(): Promise<void>;
}

async function startWorld(): Promise<World> {
  const { dir } = await makeStoreFolder();
  const smtp = startScriptedSmtp();
  const env = {
    RELAY_DATA_DIR: dir,
    RELAY_SMTP_URL: `smtp://127.0.0.1:${smtp.port}`,
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "agents.test",
  };
  let relay: SpawnedRelay = await spawnRelay({ env });
  let owner = await newClaimedOrg(relay, async () => {
    await until(() => smtp.contents.length === 1);
    return smtp.contents[0]!;
  });
  smtp.contents.length = 0;
  const inbox = await owner.inbox({});
  return {
    smtp,
    inbox,
    get owner() {
      return owner;
    },
    async kill() {
      await relay.kill("SIGKILL");
      relay = await spawnRelay({ env });
      owner = owner.at(relay);
    },
    async audit() {
      await relay.kill("SIGKILL");
      using kv = await openKvFile(join(dir, "relay.kv"));
      assert.ok((await auditStorage(kv)).length > 0);
    },
    async [Symbol.asyncDispose]() {
      await relay.kill("SIGKILL");
      await smtp[Symbol.asyncDispose]();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs;) {
    if (await isSo()) return;
    await delay(20);
  }
  throw new Error("it did not come to that in time");
}

async function settled(world: World, id: string) {
  // deno-lint-ignore no-explicit-any -- asserted one by one
  let message: any;
  await until(async () => {
    message = await readMessage(world.owner, id);
    return !["queued", "sending", "deferred"].includes(message.status);
  });
  const [{ status, reason }] = message.recipients;
  return [status, reason];
}

Deno.test("a relay that is killed before, within and after the content tells the truth of each mail", async () => {
  await using world = await startWorld();
  const { smtp } = world;
  const startSending = async (step: SmtpStep) => {
    const reached = smtp.reached(step);
    const sent = accepted(await send(world.owner, world.inbox, {}), 202);
    await reached;
    return sent.id as string;
  };
  // The next hop has nothing of the content: it is sent again.
  for (const step of ["RCPT", "DATA"] as const) {
    smtp.contents.length = 0;
    smtp.script({ [step]: "silence" });
    const id = await startSending(step);
    assert.equal((await readMessage(world.owner, id)).status, "sending", step);
    smtp.script({});
    await world.kill();
    assert.deepEqual(await settled(world, id), ["sent", null], step);
    assert.equal(smtp.contents.length, 1, step);
  }
  // It has the whole content and has not replied: the outcome is unknown, and nothing is repeated.
  smtp.contents.length = 0;
  smtp.script({ content: "silence" });
  const unknown = await startSending("content");
  smtp.script({});
  await world.kill();
  assert.deepEqual(await settled(world, unknown), ["failed", "unknown"]);
  assert.equal(smtp.contents.length, 1);
  // It has replied, and the relay may or may not have stored that.
  smtp.contents.length = 0;
  const replied = await startSending("content");
  await world.kill();
  const end = await settled(world, replied);
  assert.ok(end[0] === "sent" || end[1] === "unknown", end.join());
  assert.equal(smtp.contents.length, 1);
});

Deno.test("a request that a kill cuts off is accepted once under its key, whenever that was", async () => {
  await using world = await startWorld();
  const { smtp } = world;
  let accepts = 0;
  for (const afterMs of [0, 8, 25, 60]) {
    smtp.contents.length = 0;
    const headers = { "Idempotency-Key": `cut after ${afterMs}` };
    const subject = `cut ${afterMs}`;
    const body = { subject, text: "x".repeat(40_000) };
    const cut = send(world.owner, world.inbox, body, headers).then(
      ({ status }) => status,
      () => null,
    );
    await delay(afterMs);
    await world.kill();
    if (await cut === 202) accepts++;
    // What the dead process had reserved holds up nobody.
    let answer = await send(world.owner, world.inbox, body, headers);
    const { id } = accepted(answer, 202);
    const [status, reason] = await settled(world, id);
    assert.ok(status === "sent" || reason === "unknown", `${status} ${reason}`);
    answer = await send(world.owner, world.inbox, body, headers);
    assert.equal(answer.body.id, id);
    const path = `/v1/mail/inboxes/${world.inbox.id}/messages?limit=100`;
    const { data } = accepted(await world.owner.ask("GET", path), 200);
    const same = data.filter((row: { subject: string }) => row.subject === subject);
    assert.equal(same.length, 1);
    assert.ok(smtp.contents.length <= 1, `${smtp.contents.length} were sent`);
    if (status === "sent") assert.equal(smtp.contents.length, 1);
  }
  assert.ok(accepts <= 4);
  await world.audit();
});
