/** A relay's search index follows what its API does, and keeps no word of what was deleted. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { accepted, type MailKeyHolder } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { receive } from "../../support/mail_tools.ts";
import { newSendingOrg } from "../../support/sending_org.ts";
import type { TestRelay } from "../../support/relay.ts";

/** What is due every minute, until the index has nothing left to do. */
async function minutes({ relay }: TestRelay): Promise<void> {
  for (let i = 0; i < 4; i++) await relay.crons["figures"]!();
}

async function bytesBelow(folder: string): Promise<string> {
  const texts = [];
  for await (const { name } of Deno.readDir(folder)) {
    texts.push(new TextDecoder("latin1").decode(await Deno.readFile(join(folder, name))));
  }
  return texts.join("\n");
}

async function found(holder: MailKeyHolder, q: string): Promise<string[]> {
  const answer = await holder.ask("GET", `/v1/mail/search?q=${q}`);
  const { data } = accepted(answer, 200);
  return data.map(({ message }: { message: { id: string } }) => message.id);
}

Deno.test("the index of a relay has the words of its mail, and none of what was deleted", async () => {
  await using relay = await startMailRelay();
  const folder = join(relay.deps.config.dataDir, "mail-search");
  const [one, two] = [await newSendingOrg(relay), await newSendingOrg(relay)];
  const inboxes = [await one.inbox(), await one.inbox(), await two.inbox()];
  for (const [i, { address }] of inboxes.entries()) {
    for (const word of ["apricot", "blueberry"]) {
      relay.clock.advance(1_000);
      await receive(relay, address, { headers: { Subject: `${word}${i}` }, text: `plum ${word}` });
    }
  }
  await minutes(relay);
  const has = async () => {
    const bytes = await bytesBelow(folder);
    const words = [0, 1, 2].flatMap((i) => [`apricot${i}`, `blueberry${i}`]);
    return words.filter((word) => bytes.includes(word));
  };
  assert.equal((await has()).length, 6);
  assert.deepEqual([await found(one, "plum"), await found(two, "plum")].map((ids) => ids.length), [
    4,
    2,
  ]);

  const [id] = await found(one, "apricot0");
  accepted(await one.ask("DELETE", `/v1/mail/messages/${id}`), 204);
  assert.deepEqual(await found(one, "apricot0"), []);
  await minutes(relay);
  assert.equal((await has()).includes("apricot0"), false);
  accepted(await one.ask("DELETE", `/v1/mail/inboxes/${inboxes[1].id}`), 204);
  await minutes(relay);
  assert.deepEqual(await has(), ["blueberry0", "apricot2", "blueberry2"]);
  accepted(await two.deleteOrg(), 204);
  await minutes(relay);
  assert.deepEqual(await has(), ["blueberry0"]);
  assert.equal((await found(one, "plum")).length, 1);
  assert.deepEqual(relay.logged.filter(({ event }) => event.startsWith("mail_index")), []);
});

Deno.test("a relay on a shared store makes no index", async () => {
  await using relay = await startMailRelay({ config: { sharedStore: true } });
  const holder = await newSendingOrg(relay);
  const { address } = await holder.inbox();
  await receive(relay, address, { text: "plum" });
  await minutes(relay);
  assert.equal((await found(holder, "plum")).length, 1);
  await assert.rejects(Deno.stat(join(relay.deps.config.dataDir, "mail-search")));
});
