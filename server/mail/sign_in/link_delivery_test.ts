import { openMemoryKv } from "../../../tests/support/read_through.ts";
import assert from "node:assert/strict";
import { signInServices } from "../../../tests/support/sign_in_rig.ts";
import { openTestStorage, type TestStorage } from "../../../tests/support/storage.ts";
import type { OutgoingItem } from "../../base/outgoing/outgoing_handler.ts";
import type { OutgoingMail } from "../../base/mailer/mailer.ts";
import { keysKey, type KeysRecord } from "../records/key_record.ts";
import type { LinkRecord } from "../records/link_record.ts";
import { orgKey, type OrgRecord } from "../records/org_record.ts";
import { linkDelivery } from "./link_delivery.ts";
import { followMagicLink, sendMagicLink } from "./magic_link.ts";
import { followOwnerLink, sendClaimLink } from "./owner_link.ts";
import type { LinkMailPayload } from "./owners/queued_link.ts";

const OWNER = "owner@example.org";
const THIEF = "thief@example.org";
const NEXT = "next@example.org";

/** An org of OWNER that its key has claimed for THIEF, then for NEXT, and the queued mail to the thief. */
async function takenTwice(storage: TestStorage) {
  const services = signInServices(storage);
  const linkTo = async (kind: LinkRecord["kind"], email: string) => {
    const rows = await storage.store.list<LinkRecord>({ prefix: ["mail-link"] });
    const found = rows.filter(({ value }) => value.kind === kind && value.email === email).at(-1);
    return String(found!.key[1]);
  };
  await sendMagicLink(services, { email: OWNER, orgId: null, askedFrom: "192.0.2.1" });
  const { org: { id }, key } = await followMagicLink(services, await linkTo("magic", OWNER));
  const claim = async (email: string) => {
    storage.clock.advance(1_000);
    const org = (await storage.records.read<OrgRecord>(orgKey(id)))!;
    const [first] = (await storage.records.read<KeysRecord>(keysKey(id)))!.keys;
    assert.equal(first!.id, key.id);
    await sendClaimLink(services, { org, key: first! }, { email, askedFrom: "192.0.2.2" });
    await followOwnerLink(services, await linkTo("claim", email));
  };
  await claim(THIEF);
  await claim(NEXT);
  return { services, linkTo, back: () => claim(OWNER) };
}

function deliverer(storage: TestStorage, services: ReturnType<typeof signInServices>) {
  const sent: OutgoingMail[] = [];
  const hop = { meanwhile: async () => {} };
  const handler = linkDelivery({
    store: storage.store,
    records: storage.records,
    secret: { key: () => Promise.resolve(new Uint8Array(32)) },
    limits: services.limits,
    from: { name: "Relay", address: "relay@relay.test" },
    baseUrl: "https://relay.test",
    mailer: {
      async send(mail, { beforeContent }) {
        await hop.meanwhile();
        await beforeContent();
        sent.push(mail);
        return { result: "sent", reason: "250", reply: null };
      },
      close: () => Promise.resolve(),
    },
  });
  const attempt = (linkId: string) =>
    handler.attempt({
      id: linkId,
      payload: { v: 1, linkId, messageId: "m", refusals: 0 },
      queuedAtMs: storage.clock.now(),
      attempts: 1,
      signal: new AbortController().signal,
      commitData: () => Promise.resolve(),
    } as OutgoingItem<LinkMailPayload>);
  return { sent, hop, attempt };
}

const textOf = ({ content }: OutgoingMail) => new TextDecoder().decode(content);

Deno.test("linkDelivery() tells a former owner whose way back has ended, without the link", async () => {
  using kv = await openMemoryKv();
  const storage = await openTestStorage(kv);
  const { services, linkTo, back } = await takenTwice(storage);
  const { sent, attempt } = deliverer(storage, services);
  const thiefs = await linkTo("restore", THIEF);
  assert.equal((await attempt(thiefs)).result, "done");
  await back();
  assert.equal((await attempt(thiefs)).result, "done");
  assert.deepEqual(sent.map(({ to }) => to), [THIEF, THIEF]);
  assert.match(textOf(sent[0]!), /token=/);
  assert.doesNotMatch(textOf(sent[1]!), /token=|confirm/);
  // The one put out by the owner's return is told, but not the owner of their own link.
  assert.equal((await attempt(await linkTo("displaced", NEXT))).result, "done");
  assert.doesNotMatch(textOf(sent[2]!), /token=|confirm|owner@/);
  assert.equal((await attempt(await linkTo("restore", OWNER))).result, "dropped");
  await storage.close();
});

Deno.test("linkDelivery() hands no link over that dies while the next hop waits for the content", async () => {
  using kv = await openMemoryKv();
  const storage = await openTestStorage(kv);
  const { services, linkTo, back } = await takenTwice(storage);
  const { sent, hop, attempt } = deliverer(storage, services);
  const thiefs = await linkTo("restore", THIEF);
  hop.meanwhile = back;
  const outcome = await attempt(thiefs);
  assert.ok(outcome.result === "retry" && outcome.untried === true && outcome.afterMs === 0);
  assert.deepEqual(sent, []);
  hop.meanwhile = async () => {};
  assert.equal((await attempt(thiefs)).result, "done");
  assert.doesNotMatch(textOf(sent[0]!), /token=/);
  await storage.close();
});
