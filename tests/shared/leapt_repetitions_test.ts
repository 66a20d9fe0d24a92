/** Repetitions under a clock that leaps by more than they are remembered for: the first answer or 503, and nothing twice. */
import assert from "node:assert/strict";
import { makeRepetitionsFormer } from "../support/former_repetitions.ts";
import { isLong } from "../support/long_test.ts";
import { auditStorage } from "../support/mailbox_audit.ts";
import { LEAPING_STORES, type LeapingWorld, startLeapingWorld } from "../support/leaping_world.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Longer than both clocks have to agree. */
const TAKEN_FOR_RIGHT_MS = 75_000;
/** Longer than what stands by the wall clock and the margin of the store together. */
const LEAP_MS = 27 * HOUR_MS;
const RESTARTS = isLong
  ? ["never", "ahead", "back", "ahead and back"] as const
  : ["never", "ahead and back"] as const;
const ONCE = { messages: 1, handedOver: 3, stored: 1 };

/** Rows that tell repetitions, and what stands beside them. */
const PREFIXES = [
  "idempotency",
  "mail-idempotency",
  "mail-gateway",
  "mail-repeat",
  "mail-operator",
  "mail-answer",
  "repetition",
];

async function rowsLeft({ kv }: LeapingWorld): Promise<string[]> {
  const left: string[] = [];
  for (const prefix of PREFIXES) {
    for await (const { key } of kv.list({ prefix: [prefix] })) left.push(key.join("/"));
  }
  return left;
}

async function askAll({ repeatables }: LeapingWorld) {
  const first = new Map<string, unknown>();
  for (const { name, ask } of repeatables) {
    const { status, told } = await ask();
    assert.ok([200, 201, 202].includes(status) && told !== null, `${name}: ${status}`);
    first.set(name, told);
  }
  return first;
}

/** Repeats all. @returns how many got their first answer; all others got 503 */
async function repeatAll(
  { repeatables }: LeapingWorld,
  first: ReadonlyMap<string, unknown>,
  when: string,
): Promise<number> {
  let answered = 0;
  for (const { name, ask } of repeatables) {
    const { status, told } = await ask();
    if (status === 503) continue;
    assert.ok(status < 300, `${name}, ${when}: ${status}`);
    assert.deepEqual(told, first.get(name), `${name}, ${when}`);
    answered++;
  }
  return answered;
}

for (const [store, options] of Object.entries(LEAPING_STORES)) {
  for (const restarts of RESTARTS) {
    Deno.test(`a clock 27 hours ahead for 75 s, and right again, doubles nothing on ${store}, restarted ${restarts}`, async () => {
      await using world = await startLeapingWorld(options);
      const { repeatables } = world;
      const first = await askAll(world);
      await world.pass(1_000);
      assert.deepEqual(await world.counts(), ONCE);
      await world.leap(LEAP_MS);
      if (restarts.includes("ahead")) await world.restart();
      await repeatAll(world, first, "just ahead");
      await world.pass(TAKEN_FOR_RIGHT_MS);
      await world.pass(1_000);
      assert.equal(await repeatAll(world, first, "ahead"), repeatables.length);
      await world.leap(-LEAP_MS);
      if (restarts.includes("back")) await world.restart();
      await repeatAll(world, first, "just back");
      await world.pass(TAKEN_FOR_RIGHT_MS);
      assert.equal(await repeatAll(world, first, "back"), repeatables.length);
      await world.pass(1_000);
      assert.deepEqual(await world.counts(), ONCE);
    });
  }

  Deno.test(`what has really stood for its time is free, and leaves no row, on ${store}`, async () => {
    await using world = await startLeapingWorld(options);
    const before = await rowsLeft(world);
    assert.deepEqual(before, []);
    const first = await askAll(world);
    await world.pass(1_000);
    const expiring = new Set(world.expiring.expiring.map(([prefix]) => prefix as string));
    assert.deepEqual(PREFIXES.filter((prefix) => expiring.has(prefix)), []);
    const kinds = new Set((await rowsLeft(world)).map((row) => row.split("/")[0]!));
    assert.deepEqual(kinds, new Set(PREFIXES.filter((prefix) => prefix !== "mail-answer")));
    await world.leap(LEAP_MS);
    await world.pass(TAKEN_FOR_RIGHT_MS);
    await world.leap(-LEAP_MS);
    await world.pass(DAY_MS - TAKEN_FOR_RIGHT_MS - 1_001);
    const isShort = (name: string) => name.includes("under a webhook-id");
    for (const { name, ask } of world.repeatables) {
      if (!isShort(name)) assert.deepEqual((await ask()).told, first.get(name), name);
    }
    await world.pass(1 + HOUR_MS);
    const fresh = await askAll(world);
    for (const name of ["a send by token", "a mail", "a large mail", "a mail to the operator"]) {
      const whole = `${name} under an Idempotency-Key`;
      assert.notEqual(fresh.get(whole), first.get(whole));
    }
    await world.pass(1_000);
    assert.deepEqual(await world.counts(), { messages: 2, handedOver: 6, stored: 2 });
    await world.restart();
    await world.pass(DAY_MS + 3 * HOUR_MS);
    await world.pass(60_000);
    assert.deepEqual(await rowsLeft(world), []);
  });

  Deno.test(`what a former version has kept stands for a day from then on, and is gone with its answers, on ${store}`, async () => {
    await using world = await startLeapingWorld(options);
    const first = await askAll(world);
    await world.pass(1_000);
    let made = 0;
    await world.restart(async () => {
      made = await makeRepetitionsFormer(world.expiring.kv, world.clock.now());
      // By a clock that was days ahead.
      const far = ["mail-answer", world.clock.now() + 10 * DAY_MS, "scope"];
      await world.kv.set(far, { v: 1, orgId: "org", rowBytes: 1, blob: null });
    });
    assert.equal(made, 8);
    assert.equal(await repeatAll(world, first, "as it was"), world.repeatables.length);
    await world.pass(DAY_MS - 2_000);
    await askAll(world);
    assert.deepEqual(await world.counts(), ONCE);
    await world.pass(2_000);
    await askAll(world);
    await world.pass(1_000);
    assert.deepEqual(await world.counts(), { messages: 2, handedOver: 6, stored: 2 });
    for (let hours = 0; hours < 27; hours++) await world.pass(HOUR_MS);
    assert.deepEqual(await rowsLeft(world), []);
    await auditStorage(world.kv);
  });
}

Deno.test("a repetition whose answer the store has let go of is answered 503, and does nothing", async () => {
  await using world = await startLeapingWorld();
  const first = await askAll(world);
  await world.pass(1_000);
  await world.restart(async () => {
    await makeRepetitionsFormer(world.expiring.kv, world.clock.now());
  });
  assert.equal(await repeatAll(world, first, "in memory now"), world.repeatables.length);
  await world.leap(LEAP_MS);
  await world.leap(-LEAP_MS);
  const statuses = new Map<string, number>();
  for (const { name, ask } of world.repeatables) statuses.set(name, (await ask()).status);
  assert.equal(statuses.get("a mail under an Idempotency-Key"), 503);
  assert.equal(statuses.get("a large mail under an Idempotency-Key"), 503);
  assert.equal(statuses.get("a mail of the gateway under a webhook-id"), 503);
  assert.equal(statuses.get("a send by token under an Idempotency-Key"), 201);
  await world.pass(1_000);
  const { messages, handedOver } = await world.counts();
  assert.deepEqual({ messages, handedOver }, { messages: 1, handedOver: 3 });
});
