import assert from "node:assert/strict";
import { movableReader, streamed } from "../../../../tests/support/movable_reader.ts";
import type { BodyReader } from "./body_reader.ts";
import { BODY_POOLS, type BodyPoolName } from "./body_pools.ts";

const BOUNDS = { smallBytes: 10, smallTotalBytes: 1000 };

/** Starts so many bodies of a pool that never end; `dropped` gets the names of those that give way. */
function startEndless(
  reader: BodyReader,
  pool: BodyPoolName,
  count: number,
  silent: readonly number[],
  dropped: string[],
): void {
  for (let index = 0; index < count; index++) {
    const { request } = streamed(silent.includes(index) ? [] : ["0"], { end: false });
    void reader.open(request, { limitBytes: 10, pool }, () => "a").read().catch((error) =>
      dropped.push(`${pool} ${error.code === "unavailable" ? index : error}`)
    );
  }
}

async function tickAt(state: { nowMs: number; tick(): void }, nowMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve)); // what has come is counted
  state.nowMs = nowMs;
  state.tick();
  await Promise.resolve();
}

Deno.test("BodyReader drops the slowest of more than 2,048 bodies that are incomplete after a second", async () => {
  const { reader, state } = movableReader();
  const dropped: string[] = [];
  startEndless(reader, "messages", 2049, [7], dropped);
  await tickAt(state, 999);
  assert.deepEqual(dropped, []);
  await tickAt(state, 1000);
  assert.deepEqual(dropped, ["messages 7"]);
});

Deno.test("BodyReader drops bodies over 2,048 from the pool that is over its share, though another has slower ones", async () => {
  const flooded = movableReader();
  const dropped: string[] = [];
  startEndless(flooded.reader, "messages", 1530, [3], dropped);
  startEndless(flooded.reader, "mail", 519, [5], dropped);
  await tickAt(flooded.state, 1000);
  assert.deepEqual(dropped, ["mail 5"]);

  const { reader, state } = movableReader();
  const both: string[] = [];
  startEndless(reader, "mail", 513, [8], both);
  startEndless(reader, "messages", 1538, [2, 4], both);
  await tickAt(state, 1000);
  assert.deepEqual(both.toSorted(), ["mail 8", "messages 2", "messages 4"]);
});

Deno.test("BodyReader gives a mail a second more for each 128 KiB that came, at most 120 s", async () => {
  const { reader, state } = movableReader();
  const piece = "a".repeat(128 * 1024);
  const start = (parts: string[]) => {
    const ended = { reason: "" };
    const rules = { limitBytes: 1e9, pool: "mail" } as const;
    void reader.open(streamed(parts, { end: false }).request, rules, () => "a").read()
      .catch((error) => ended.reason = `${error.code}: ${error.message}`);
    return ended;
  };
  const nothing = start([]);
  const two = start([piece, piece + "a".repeat(1000)]);
  const many = start(Array.from({ length: 300 }, () => piece));
  const ended = () => [nothing, two, many].map(({ reason }) => /within (.*) s:/.exec(reason)?.[1]);
  await tickAt(state, 14_999);
  assert.deepEqual(ended(), [undefined, undefined, undefined]);
  await tickAt(state, 15_000);
  assert.deepEqual(ended(), ["15", undefined, undefined]);
  await tickAt(state, 16_999);
  assert.deepEqual(ended(), ["15", undefined, undefined]);
  await tickAt(state, 17_000);
  assert.deepEqual(ended(), ["15", "17", undefined]);
  await tickAt(state, 119_999);
  assert.deepEqual(ended(), ["15", "17", undefined]);
  await tickAt(state, 120_000);
  assert.deepEqual(ended(), ["15", "17", "120"]);
  assert.match(many.reason, /^request_timeout: /);
});

Deno.test("BodyReader counts the bodies of each pool alone: a full one drops its slowest and no other's", async () => {
  const { reader, state } = movableReader({
    messages: { ...BODY_POOLS.messages, bounds: { ...BOUNDS, totalBytes: 1000 } },
    mail: { ...BODY_POOLS.mail, bounds: { ...BOUNDS, totalBytes: 1000 } },
  });
  const dropped: string[] = [];
  const start = (name: string, pool: BodyPoolName, sizeBytes: number) => {
    const { request } = streamed(["a".repeat(sizeBytes)], { end: false });
    const body = reader.open(request, { limitBytes: 1000, pool }, () => name);
    void body.read().catch((error) => dropped.push(`${name}: ${error.code}`));
  };
  start("slowest message", "messages", 300);
  await tickAt(state, 1000);
  start("slow mail", "mail", 400);
  await tickAt(state, 3000);
  start("mail", "mail", 599);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, []);
  start("one mail more", "mail", 100);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, ["slow mail: unavailable"]);
  start("message", "messages", 600);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, ["slow mail: unavailable"]);
  start("one message more", "messages", 200);
  await tickAt(state, 3000);
  assert.deepEqual(dropped, ["slow mail: unavailable", "slowest message: unavailable"]);
});
