/**
 * A real relay process whose clock is moved: what its clock once said must not make a repetition new,
 * strand what waits, or hide what comes later.
 */
import assert from "node:assert/strict";
import { listRows } from "../../server/storage/list_rows.ts";
import { LEASED_PREFIX } from "../../server/outgoing/outgoing_row.ts";
import { DAY_MS, HOUR_MS } from "../../server/time_units.ts";
import { accepted } from "../support/mail_caller.ts";
import { MovedClock } from "../support/moved_clock.ts";
import { delay } from "../support/pace.ts";
import { partOrSkip } from "../support/part.ts";
import { readMessage, send } from "../support/sending_org.ts";
import { MovedRelay } from "./moved_relay.ts";

const PATIENCE_MS = 20_000;

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + PATIENCE_MS; performance.now() < endMs;) {
    if (await isSo()) return;
    await delay(50);
  }
  throw new Error(`within ${PATIENCE_MS / 1000} s it did not come to this: ${what}`);
}

partOrSkip(
  "faketime",
  "MovedClock moves a process's wall clock and leaves its monotonic one",
  async (faketime) => {
    await using clock = await MovedClock.make(faketime);
    const program = `
    const [wall, monotonic] = [Date.now(), performance.now()];
    console.log("begun");
    await new Promise((resolve) => setTimeout(resolve, 100));
    while (Math.abs(Date.now() - wall) < 60_000) await new Promise((resolve) => setTimeout(resolve, 5));
    console.log(Date.now() - wall, performance.now() - monotonic);`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", program],
      env: clock.env,
      stdout: "piped",
    }).spawn();
    let told = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      told += chunk;
      if (told === "begun\n") clock.moveTo(-9 * HOUR_MS);
    }
    const [wallMs, monotonicMs] = told.split("\n")[1]!.split(" ").map(Number) as [number, number];
    assert.ok(Math.abs(wallMs + 9 * HOUR_MS) < 30_000, told);
    assert.ok(monotonicMs >= 100 && monotonicMs < 30_000, told);
  },
);

partOrSkip(
  "faketime",
  "a signed send is stored once, though a start found the clock nine hours ahead",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    const { ledger } = moved;
    await ledger.send(moved.target, 0, 1);
    await moved.restart(9 * HOUR_MS);
    await moved.restart(0);
    await ledger.repeatAcknowledged(moved.target, 0);
    await ledger.check(moved.target);
    assert.equal(ledger.acknowledged.size, 1);
  },
);

partOrSkip(
  "faketime",
  "a signed send is stored once, though another process's clock was nine hours ahead",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime, { env: { RELAY_SHARED_STORE: "true" } });
    await using ahead = await MovedClock.make(faketime);
    const { ledger } = moved;
    await ledger.send(moved.target, 0, 1);
    ahead.moveTo(9 * HOUR_MS);
    await moved.add(ahead);
    await ledger.repeatAcknowledged(moved.target, 0);
    await ledger.check(moved.target);
  },
);

partOrSkip(
  "faketime",
  "mail under a key is sent once and inbound mail stored once, though a start found the clock 27 hours ahead",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    const { mail, clock } = moved;
    await mail.send(moved.owner);
    await mail.handIn(moved.relay.url, clock.seconds());
    await until("the mail is handed over", () => Promise.resolve(moved.smtp.received.length === 1));
    await moved.restart(27 * HOUR_MS);
    await moved.restart(0);
    await mail.repeatSend(moved.owner, 0);
    await mail.repeatHandIn(moved.relay.url, clock.seconds(), 0, "another_id");
    await mail.repeatHandIn(moved.relay.url, clock.seconds(), 0);
    await mail.check(moved.owner);
  },
);

partOrSkip(
  "faketime",
  "repetitions are answered as at first, though another process's clock was 27 hours ahead",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime, { env: { RELAY_SHARED_STORE: "true" } });
    await using ahead = await MovedClock.make(faketime);
    const { mail, clock } = moved;
    await mail.send(moved.owner);
    await mail.handIn(moved.relay.url, clock.seconds());
    ahead.moveTo(27 * HOUR_MS);
    await moved.add(ahead);
    await mail.repeatSend(moved.owner, 0);
    await mail.repeatHandIn(moved.relay.url, clock.seconds(), 0);
    await mail.check(moved.owner);
  },
);

partOrSkip("faketime", "a clock that leaps to 2094 and back hides nothing", async (faketime) => {
  await using moved = await MovedRelay.start(faketime);
  const { ledger, clock } = moved;
  await ledger.send(moved.target, 0, 1);
  clock.set(Date.UTC(2094, 0, 1));
  await ledger.send(moved.target, 0, 1);
  clock.moveTo(0);
  await until("a send is accepted", async () => {
    await ledger.send(moved.target, 0, 1);
    return ledger.answers["201"]! >= 2 && ledger.lastId < Number.MAX_SAFE_INTEGER;
  });
  await ledger.check(moved.target);
});

partOrSkip(
  "faketime",
  "mail that was deferred 20 hours ahead does not wait for 20 hours",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    await moved.restart(20 * HOUR_MS);
    moved.smtp.refuse({ at: "recipient", code: 451 });
    const { id } = accepted(await send(moved.owner, moved.inbox, {}), 202);
    const status = async () => (await readMessage(moved.owner, id)).status;
    await until("the mail is deferred", async () => await status() === "deferred");
    moved.smtp.refuse(null);
    await moved.restart(0);
    await until("the mail is sent", async () => await status() === "sent");
    assert.equal(moved.smtp.received.length, 1);
  },
);

partOrSkip(
  "faketime",
  "a lease that ends 20 hours ahead holds up nothing on a shared store",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime, { env: { RELAY_SHARED_STORE: "true" } });
    await moved.restart(20 * HOUR_MS);
    const held = moved.smtp.holdRecipients();
    const { id } = accepted(await send(moved.owner, moved.inbox, {}), 202);
    await held.reached;
    await moved.kill();
    held.release();
    await moved.restart(0);
    const status = async () => (await readMessage(moved.owner, id)).status;
    await until("the mail is sent", async () => await status() === "sent");
    using kv = await Deno.openKv(moved.kvPath);
    assert.deepEqual(await listRows(kv, { prefix: [LEASED_PREFIX] }), []);
  },
);

partOrSkip(
  "faketime",
  "deferred mail does not fail because the clock was two days ahead for seconds",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    moved.smtp.refuse({ at: "recipient", code: 451 });
    const { id } = accepted(await send(moved.owner, moved.inbox, {}), 202);
    const status = async () => (await readMessage(moved.owner, id)).status;
    await until("the mail is deferred", async () => await status() === "deferred");
    moved.clock.moveTo(2 * DAY_MS);
    await delay(5_000);
    moved.clock.moveTo(0);
    assert.equal(await status(), "deferred");
  },
);
