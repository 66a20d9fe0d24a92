/** The secret of the mail area over restarts, and custody keys that are changed, dropped or missing. */
import assert from "node:assert/strict";
import type { Config } from "../../server/base/config/config.ts";
import { custodyKeyId } from "../../server/base/sealing/key_ring.ts";
import { newKey } from "../support/custody_key.ts";
import { accepted, assertMailRefused, MailKeyHolder, newOrg } from "../support/mail_caller.ts";
import { askMail, signRegistration, startMailRelay } from "../support/mail_relay.ts";
import { openKvFile } from "../support/read_through.ts";
import { startTestRelay, type TestRelay } from "../support/relay.ts";

interface Place {
  dataDir: string;
  start(config?: Partial<Config>): Promise<TestRelay & { resealed: Promise<unknown> }>;
}

async function withStore(body: (place: Place) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-mail-secret-" });
  try {
    await body({
      dataDir,
      async start(config = {}) {
        const resealed = Promise.withResolvers<unknown>();
        const relay = await startMailRelay({
          kvPath: `${dataDir}/relay.kv`,
          config: { ...config, dataDir },
          limits: { mailInboxesPerTrial: 10 },
          deps: {
            log: (event, fields) => {
              if (event === "custody_keys_resealed") resealed.resolve(fields!.count);
            },
          },
        });
        return Object.assign(relay, { resealed: resealed.promise });
      },
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

const mailNote = ({ relay }: TestRelay) =>
  relay.startupNotes().find((line) => /^ +mail /.test(line))!;

/** A cursor between the first and the second of three inboxes. */
async function makeCursor(owner: MailKeyHolder): Promise<string> {
  for (let i = 0; i < 3; i++) await owner.inbox();
  return accepted(await owner.ask("GET", "/v1/mail/inboxes?limit=1"), 200).next_cursor;
}

async function assertCursorHolds(owner: MailKeyHolder, cursor: string): Promise<void> {
  const { data } = accepted(await owner.ask("GET", `/v1/mail/inboxes?cursor=${cursor}`), 200);
  assert.equal(data.length, 2);
}

Deno.test("cursors hold over a restart, and over a custody key that is replaced and then dropped", () =>
  withStore(async ({ start }) => {
    const [old, fresh] = [newKey(), newKey()];
    const first = await start({ custodyKeys: [old] });
    const owner = await newOrg(first);
    const cursor = await makeCursor(owner);
    await first.stop();

    const again = await start({ custodyKeys: [old] });
    await assertCursorHolds(owner.at(again), cursor);
    await again.stop();

    const rotating = await start({ custodyKeys: [fresh, old] });
    await assertCursorHolds(owner.at(rotating), cursor);
    assert.equal(await rotating.resealed, 1);
    await rotating.stop();

    await using rotated = await start({ custodyKeys: [fresh] });
    assert.match(mailNote(rotated), /on: /);
    await assertCursorHolds(owner.at(rotated), cursor);
    await newOrg(rotated);
  }));

Deno.test("two relays that begin on one new store have one secret between them", () =>
  withStore(async ({ start }) => {
    const shared = { custodyKeys: [newKey()], sharedStore: true };
    await using one = await start(shared);
    await using two = await start(shared);
    const [first, second] = await Promise.all([newOrg(one), newOrg(two)]);
    for (const owner of [first, second]) {
      const cursor = await makeCursor(owner);
      for (const relay of [one, two]) await assertCursorHolds(owner.at(relay), cursor);
    }
  }));

Deno.test("a store whose secret is sealed under a missing key starts with mail off, says why, and heals", () =>
  withStore(async ({ start }) => {
    const [key, other] = [newKey(), newKey()];
    const first = await start({ custodyKeys: [key] });
    const owner = await newOrg(first);
    const cursor = await makeCursor(owner);
    await first.stop();

    const wrong = await start({ custodyKeys: [other] });
    const note = mailNote(wrong);
    assert.match(note, /off: .*RELAY_CUSTODY_KEY/);
    assert.ok(note.includes(custodyKeyId(key)) && !note.includes(custodyKeyId(other)));
    assert.equal(wrong.relay.mailOn, false);
    assertMailRefused(await owner.at(wrong).readOrg(), "mail_disabled");
    const registering = await askMail(wrong.url, "POST", "/v1/mail/agents/register", {
      body: signRegistration(wrong.clock.now()),
    });
    assertMailRefused(registering, "mail_disabled");
    assertMailRefused(await askMail(wrong.url, "GET", "/v1/mail/nothing"), "not_found");
    // What is not mail works.
    const agent = await askMail(wrong.url, "GET", "/v1/stats");
    accepted(agent, 200);
    await wrong.stop();

    await using both = await start({ custodyKeys: [other, key] });
    await assertCursorHolds(owner.at(both), cursor);
  }));

Deno.test("a hosted relay without a custody key has mail off and makes none", () =>
  withStore(async ({ start, dataDir }) => {
    await using relay = await start({ hosted: true, sharedStore: true });
    assert.match(mailNote(relay), /off: a hosted relay needs RELAY_CUSTODY_KEY/);
    assert.equal(relay.relay.mailOn, false);
    await assert.rejects(Deno.stat(`${dataDir}/custody.key`), Deno.errors.NotFound);
  }));

Deno.test("a relay without its mail settings has mail off, names them, and keeps what mail has stored", () =>
  withStore(async ({ start, dataDir }) => {
    const key = newKey();
    const { mail } = (await import("../../server/base/config/config.ts")).parseConfig({
      RELAY_SMTP_URL: "smtp://127.0.0.1:1",
      RELAY_MAIL_FROM: "relay@example.org",
      RELAY_MAIL_DOMAIN: "mail.example.org",
    });
    const first = await start({ custodyKeys: [key], mail });
    const owner = await newOrg(first);
    const inbox = await owner.inbox();
    assert.ok(inbox.address.endsWith("@mail.example.org"));
    await first.stop();
    const { domain: _, ...without } = mail;
    const off = await startTestRelay({
      kvPath: `${dataDir}/relay.kv`,
      config: { custodyKeys: [key], dataDir, mail: without },
    });
    assert.match(mailNote(off), /off: RELAY_MAIL_DOMAIN is unset/);
    assertMailRefused(await owner.at(off).readOrg(), "mail_disabled");
    await off.stop();
    await using again = await start({ custodyKeys: [key], mail });
    assert.deepEqual(
      accepted(await owner.at(again).ask("GET", `/v1/mail/inboxes/${inbox.id}`), 200),
      inbox,
    );
  }));

Deno.test("the stored secret is sealed: its row does not hold what cursors are signed with", () =>
  withStore(async ({ dataDir }) => {
    const secret = new Uint8Array(32).fill(7);
    const relay = await startMailRelay({
      kvPath: `${dataDir}/relay.kv`,
      config: { dataDir, custodyKeys: [newKey()] },
      deps: {
        random: (sizeBytes) =>
          sizeBytes === 32 ? secret.slice() : crypto.getRandomValues(new Uint8Array(sizeBytes)),
      },
    });
    await newOrg(relay);
    await relay.stop();
    using kv = await openKvFile(`${dataDir}/relay.kv`);
    const [row, ...others] = await Array.fromAsync(
      kv.list<Record<string, unknown>>({ prefix: ["mail-secret"] }),
    );
    assert.deepEqual(others, []);
    const sealed = Object.values(row!.value).filter((value) => value instanceof Uint8Array);
    assert.ok(sealed.some((bytes) => bytes.length >= secret.length));
    for (const bytes of sealed) assert.ok(!bytes.join().includes(secret.slice(0, 8).join()));
  }));
