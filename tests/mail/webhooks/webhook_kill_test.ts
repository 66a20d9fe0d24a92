/** kill -9 of a relay while it makes events and delivers them: none is lost, and a repetition is the same. */
import assert from "node:assert/strict";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { delay } from "../../support/pace.ts";
import { type SpawnedRelay, spawnRelay } from "../../support/spawn_relay.ts";
import { startReceiver, verify } from "../../support/webhook_world.ts";

const SECRET = new Uint8Array(32).fill(9);
const WEBHOOKS = 4;
const MAILS = 40;
/** After so many requests the relay is killed while the receiver holds the last of them. */
const KILLED_AT = [1, 9, 40, 90];

Deno.test("what a killed relay was to deliver is delivered by the next, each event to each webhook, the same bytes", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-webhook-kill-" });
  const env = {
    RELAY_DATA_DIR: dataDir,
    RELAY_MAIL_DEV: "true",
    RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
  };
  await using receiver = startReceiver({ now: Date.now });
  let relay: SpawnedRelay = await spawnRelay({ env });
  try {
    const registered = await askMail(relay.url, "POST", "/v1/mail/agents/register", {
      body: signRegistration(Date.now()),
    });
    const { api_key, org_id } = accepted(registered, 201);
    const owner = () => new MailKeyHolder(relay.url, api_key, org_id);
    const inbox = await owner().inbox();
    const secrets = new Map<string, string>();
    for (let i = 0; i < WEBHOOKS; i++) {
      const body = { url: `${receiver.url}/${i}` };
      const made = accepted(await owner().ask("POST", "/v1/mail/webhooks", { body }), 201);
      secrets.set(`/${i}`, made.secret);
    }
    let kills = Promise.withResolvers<void>();
    receiver.answer = async () => {
      if (receiver.taken.length !== KILLED_AT[0]) return new Response();
      KILLED_AT.shift();
      await relay.kill("SIGKILL");
      kills.resolve();
      return new Response();
    };
    const told = new Set<string>();
    for (let n = 0; n < MAILS;) {
      const subject = `mail ${n}`;
      const timestamp = Math.floor(Date.now() / 1000);
      const raw = mailText({ headers: { Subject: subject }, text: subject });
      const answer = await handIn(relay.url, {
        to: [inbox.address],
        raw,
        timestamp,
        secret: SECRET,
        id: `mail_${n}`,
      }).catch(() => null);
      if (answer !== null && answer.status === 200) {
        told.add(subject);
        n++;
        continue;
      }
      await kills.promise;
      kills = Promise.withResolvers();
      relay = await spawnRelay({ env });
    }
    const subjectsAt = (path: string) =>
      new Set(
        receiver.taken.filter((taken) => taken.path === path)
          .map(({ body }) => body.data.message.subject),
      );
    const isDone = () => [...secrets.keys()].every((path) => subjectsAt(path).size === MAILS);
    while (!isDone()) {
      const killed = await Promise.race([
        kills.promise.then(() => true),
        delay(20).then(() => false),
      ]);
      if (!killed) continue;
      kills = Promise.withResolvers();
      relay = await spawnRelay({ env });
    }
    assert.deepEqual(KILLED_AT, []);
    const bodies = new Map<string, string>();
    for (const taken of receiver.taken) {
      verify(taken, secrets.get(taken.path)!);
      const id = taken.headers["webhook-id"]!;
      assert.equal(taken.text, bodies.get(id) ?? taken.text);
      bodies.set(id, taken.text);
    }
    assert.equal(bodies.size, told.size); // one event a mail
  } finally {
    await relay.terminate();
    await Deno.remove(dataDir, { recursive: true });
  }
});
