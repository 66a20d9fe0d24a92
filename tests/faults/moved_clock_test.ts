/**
 * A real relay process whose clock is moved: what its clock once said must not make a repetition new,
 * strand what waits, or hide what comes later.
 */
import assert from "node:assert/strict";
import { DAY_MS, HOUR_MS } from "../../server/base/time/time_units.ts";
import { ask } from "../support/answer.ts";
import { accepted } from "../support/mail_caller.ts";
import { MovedClock } from "../support/moved_clock.ts";
import { delay } from "../support/pace.ts";
import { partOrSkip } from "../support/part.ts";
import { openKvFile } from "../support/read_through.ts";
import { readMessage, send } from "../support/sending_org.ts";
import { realTarget } from "../support/traffic.ts";
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
    for await (const chunk of child.stdout) {
      told += new TextDecoder().decode(chunk); // ASCII
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
    await ledger.send(moved.target(), 0, 1);
    await moved.restart(9 * HOUR_MS);
    await moved.restart(0);
    await ledger.repeatAcknowledged(moved.target(), 0);
    await ledger.check(moved.target());
    assert.deepEqual([ledger.acknowledged.size, ledger.answers["201"]], [1, 2]);
  },
);

partOrSkip(
  "faketime",
  "a signed send is stored once, though the clock was nine hours ahead for a while",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    const { ledger, clock } = moved;
    await ledger.send(moved.target(), 0, 1);
    clock.moveTo(9 * HOUR_MS);
    await moved.sweep();
    clock.moveTo(0);
    await ledger.repeatAcknowledged(moved.target(), 0);
    await ledger.check(moved.target());
    assert.deepEqual([ledger.acknowledged.size, ledger.answers["201"]], [1, 2]);
  },
);

partOrSkip(
  "faketime",
  "what one process accepted is accepted once, though another's clock was 27 hours ahead",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime, { processes: 2 });
    await using ahead = await MovedClock.make(faketime);
    const { ledger, mail, clock } = moved;
    await ledger.send(moved.target(), 0, 1);
    await mail.send(moved.owner());
    await mail.handIn(moved.owner().url, clock.seconds());
    ahead.moveTo(27 * HOUR_MS);
    await moved.spawn(ahead);
    for (const process of [0, 1]) {
      await ledger.repeatAcknowledged(moved.target(process), 0);
      await mail.repeatAll(moved.owner(process), clock.seconds());
    }
    await ledger.check(moved.target());
    await mail.check(moved.owner());
    assert.deepEqual(mail.answers, { "send 202": 3, "inbound 200": 3 });
  },
);

partOrSkip(
  "faketime",
  "mail under a key is sent once and inbound mail stored once, though a start found the clock 27 hours ahead",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    const { mail, clock } = moved;
    await mail.send(moved.owner());
    await mail.handIn(moved.owner().url, clock.seconds());
    await until("the mail is handed over", () => Promise.resolve(moved.smtp.received.length === 1));
    await moved.restart(27 * HOUR_MS);
    await moved.restart(0);
    await mail.repeatHandIn(moved.owner().url, clock.seconds(), 0, "another_id");
    await mail.repeatAll(moved.owner(), clock.seconds());
    await mail.check(moved.owner());
    assert.deepEqual(mail.answers, { "send 202": 2, "inbound 200": 3 });
  },
);

partOrSkip(
  "faketime",
  "repetitions are answered as at first, though the clock was 27 hours ahead for a while",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    const { mail, clock } = moved;
    await mail.send(moved.owner());
    await mail.handIn(moved.owner().url, clock.seconds());
    clock.moveTo(27 * HOUR_MS);
    await moved.sweep();
    clock.moveTo(0);
    await mail.repeatHandIn(moved.owner().url, clock.seconds(), 0, "another_id");
    await mail.repeatAll(moved.owner(), clock.seconds());
    await mail.check(moved.owner());
    assert.deepEqual(mail.answers, { "send 202": 2, "inbound 200": 3 });
  },
);

partOrSkip(
  "faketime",
  "after a leap ahead polls go on by either time, sends wait until both clocks agree, and /health says so",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    const { ledger, clock } = moved;
    await ledger.send(moved.target(), 0, 1);
    clock.moveTo(9 * HOUR_MS);
    await ledger.send(moved.target(), 0, 1);
    await ledger.check(realTarget(moved.target().url));
    await ledger.check(moved.target());
    assert.deepEqual(ledger.answers, { 201: 1, 503: 1 });
    const { json } = await ask(`${moved.target().url}/health`);
    assert.equal(json.clock?.state, "unsure", JSON.stringify(json));
    await until("a send is accepted", async () => {
      await ledger.send(moved.target(), 0, 1);
      return ledger.answers["201"]! > 1;
    });
    assert.deepEqual((await ask(`${moved.target().url}/health`)).json, {
      ok: true,
      mail_in: ["gateway"],
    });
  },
);

partOrSkip(
  "faketime",
  "a clock in 2094 gives no message an id, and hides none that comes later",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    const { ledger, clock } = moved;
    clock.set(Date.UTC(2094, 11, 1)); // above the greatest id
    for (let i = 0; i < 6; i++) {
      await ledger.send(moved.target(), 0, 1);
      await delay(250); // beyond the time of agreement
    }
    assert.deepEqual(ledger.answers, { 503: 6 });
    clock.moveTo(0);
    await until("a send is accepted", async () => {
      await ledger.send(moved.target(), 0, 1);
      return ledger.acknowledged.size > 0;
    });
    await ledger.check(moved.target());
  },
);

partOrSkip(
  "faketime",
  "mail that was deferred 20 hours ahead does not wait for 20 hours",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    await moved.restart(20 * HOUR_MS);
    moved.smtp.refuse({ at: "recipient", code: 451 });
    const status = await sendWatched(moved);
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
    await using moved = await MovedRelay.start(faketime, { processes: 2 });
    await moved.restart(20 * HOUR_MS);
    const held = moved.smtp.holdRecipients();
    const status = await sendWatched(moved);
    await held.reached;
    await moved.kill();
    held.release();
    await moved.restart(0);
    await until("the mail is sent", async () => await status() === "sent");
    assert.equal(moved.smtp.received.length, 1);
  },
);

partOrSkip(
  "faketime",
  "deferred mail does not fail because the clock was two days ahead for seconds",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime);
    moved.smtp.refuse({ at: "recipient", code: 451 });
    const status = await sendWatched(moved);
    await until("the mail is deferred", async () => await status() === "deferred");
    moved.clock.moveTo(2 * DAY_MS);
    const health = async () => (await ask(`${moved.target().url}/health`)).json;
    await until("the clock is taken for right", async () => (await health()).clock === undefined);
    await delay(1_500); // beyond a look at what is due
    moved.clock.moveTo(0);
    assert.equal(await status(), "deferred");
  },
);

partOrSkip(
  "faketime",
  "writer slots that were leased nine hours ahead do not stop a start",
  async (faketime) => {
    await using moved = await MovedRelay.start(faketime, { processes: 2 });
    await moved.kill();
    {
      using kv = await openKvFile(moved.kvPath);
      const leases = kv.atomic();
      for (let slot = 1; slot <= 255; slot++) {
        leases.set(["slot", slot, "owner"], { v: 1, holder: `former ${slot}` })
          .set(["slot", slot, "lease"], { v: 1, untilMs: Date.now() + 9 * HOUR_MS });
      }
      await leases.commit();
    }
    await moved.restart(0);
    await moved.ledger.send(moved.target(), 0, 1);
    await moved.ledger.check(moved.target());
    assert.equal(moved.ledger.acknowledged.size, 1);
  },
);

/** Sends a mail. @returns asks for its status */
async function sendWatched(moved: MovedRelay): Promise<() => Promise<string>> {
  const { id } = accepted(await send(moved.owner(), moved.inbox, {}), 202);
  return async () => (await readMessage(moved.owner(), id)).status;
}
