import assert from "node:assert/strict";
import { createTestClock } from "../../../tests/support/clock.ts";
import { Snapshots } from "./snapshots.ts";

const textOf = async (page: Promise<{ bytes: Uint8Array }>) =>
  new TextDecoder().decode((await page).bytes);

Deno.test("Snapshots.get() makes a page once a second, whoever asks", async () => {
  const clock = createTestClock();
  const snapshots = new Snapshots(clock.now, 2);
  let made = 0;
  const ask = () => textOf(snapshots.get("/", () => Promise.resolve(`page ${++made}`)));
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ["page 1", "page 1", "page 1"]);
  clock.advance(999);
  assert.equal(await ask(), "page 1");
  clock.advance(1);
  assert.deepEqual(await Promise.all([ask(), ask()]), ["page 2", "page 2"]);
  clock.advance(-60_000);
  assert.equal(await ask(), "page 3", "a clock that was set back keeps no page for ever");
});

Deno.test("Snapshots.get() has all wait for one that takes longer than a second", async () => {
  const clock = createTestClock();
  const snapshots = new Snapshots(clock.now, 2);
  const { promise, resolve } = Promise.withResolvers<string>();
  let made = 0;
  const slow = () => {
    made++;
    return promise;
  };
  const first = textOf(snapshots.get("/", slow));
  clock.advance(5_000);
  const second = textOf(snapshots.get("/", slow));
  resolve("slow");
  assert.deepEqual(await Promise.all([first, second]), ["slow", "slow"]);
  assert.equal(made, 1);
});

Deno.test("Snapshots.get() keeps no failure, and no more pages than it may", async () => {
  const clock = createTestClock();
  const snapshots = new Snapshots(clock.now, 2);
  await assert.rejects(snapshots.get("/", () => Promise.reject(new Error("away"))), /away/);
  let made = 0;
  const ask = (name: string) => snapshots.get(name, () => Promise.resolve(`${name} ${++made}`));
  for (const name of ["a", "b", "c", "a"]) await ask(name);
  assert.equal(made, 4, "the oldest of three has left");
  await ask("c");
  assert.equal(made, 4);
});

Deno.test("Snapshots.get() names equal pages alike, so that who has one is not sent it again", async () => {
  const clock = createTestClock();
  const snapshots = new Snapshots(clock.now, 2);
  const first = await snapshots.get("/", () => Promise.resolve("same"));
  clock.advance(1_000);
  const second = await snapshots.get("/", () => Promise.resolve("same"));
  assert.notEqual(first, second);
  assert.equal(first.version, second.version);
});

Deno.test("Snapshots.get() gives up on a page that is not made in time", async () => {
  const clock = createTestClock();
  const snapshots = new Snapshots(clock.now, 2);
  void snapshots.get("/", () => new Promise<string>(() => {}));
  clock.advance(15_000);
  assert.equal(await textOf(snapshots.get("/", () => Promise.resolve("made"))), "made");
});
