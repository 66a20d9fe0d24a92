import assert from "node:assert/strict";
import { RelayError } from "../../../base/errors.ts";
import { AddressBytes } from "./address_bytes.ts";

const HOUR_MS = 3_600_000;
const START_MS = 1_780_000_020_000;

/** A stored send. */
function store(bytes: AddressBytes, address: string, sizeBytes: number, nowMs: number): void {
  const reserved = bytes.of(address, sizeBytes);
  reserved.reserve(nowMs);
  reserved.count();
}

function waitOf(bytes: AddressBytes, address: string, sizeBytes: number, nowMs: number): number {
  try {
    bytes.of(address, sizeBytes).reserve(nowMs);
  } catch (error) {
    assert.ok(error instanceof RelayError && error.code === "rate_limited");
    return error.retryAfterMs!;
  }
  assert.fail("it was not refused");
}

Deno.test("AddressBytes takes what fits an hour, and says exactly when the next fits", () => {
  const bytes = new AddressBytes(1_000);
  store(bytes, "a", 400, START_MS);
  store(bytes, "a", 500, START_MS + 600_000);
  store(bytes, "a", 100, START_MS + 1_200_000);
  const nowMs = START_MS + 1_800_000;
  assert.equal(waitOf(bytes, "a", 1, nowMs), START_MS + HOUR_MS - nowMs);
  assert.equal(waitOf(bytes, "a", 400, nowMs), START_MS + HOUR_MS - nowMs);
  // More than the oldest one makes room for.
  assert.equal(waitOf(bytes, "a", 401, nowMs), START_MS + 600_000 + HOUR_MS - nowMs);
  assert.equal(waitOf(bytes, "a", 2_000, nowMs), START_MS + 1_200_000 + HOUR_MS - nowMs);
  store(bytes, "b", 1_000, nowMs);
  assert.equal(waitOf(bytes, "a", 400, START_MS + HOUR_MS - 1), 1);
  store(bytes, "a", 400, START_MS + HOUR_MS);
  assert.ok(waitOf(bytes, "a", 1, START_MS + HOUR_MS) > 0);
});

Deno.test("AddressBytes never lets a send in before its wait is over, though minutes share a stamp", () => {
  const bytes = new AddressBytes(10_000);
  for (let i = 0; i < 100; i++) store(bytes, "a", 100, START_MS + i * 977);
  const nowMs = START_MS + 200_000;
  const waitMs = waitOf(bytes, "a", 100, nowMs);
  assert.ok(waitMs >= START_MS + HOUR_MS - nowMs && waitMs <= START_MS + HOUR_MS + 60_000 - nowMs);
  assert.equal(waitOf(bytes, "a", 100, nowMs + waitMs - 1), 1);
  store(bytes, "a", 100, nowMs + waitMs);
});

Deno.test("AddressBytes holds what is under way, and gives back what was not stored", () => {
  const bytes = new AddressBytes(1_000);
  const first = bytes.of("a", 600);
  first.reserve(START_MS);
  assert.equal(waitOf(bytes, "a", 600, START_MS), HOUR_MS);
  // A further attempt holds the same bytes, not twice as many.
  first.reserve(START_MS + 1);
  const second = bytes.of("a", 400);
  second.reserve(START_MS + 1);
  second.giveBack();
  second.giveBack();
  first.giveBack();
  const third = bytes.of("a", 1_000);
  third.reserve(START_MS + 2);
  third.count();
  third.giveBack();
  assert.equal(waitOf(bytes, "a", 1, START_MS + 2), HOUR_MS);
});

Deno.test("AddressBytes keeps a bounded number of addresses, the heavy ones among them", () => {
  const bytes = new AddressBytes(1_000_000, 500);
  for (let i = 0; i < 20; i++) store(bytes, `heavy-${i}`, 1_000_000, START_MS);
  for (let i = 0; i < 20_000; i++) store(bytes, `light-${i}`, 1_000, START_MS + i);
  assert.equal(bytes.size, 500);
  for (let i = 0; i < 20; i++) assert.ok(waitOf(bytes, `heavy-${i}`, 1, START_MS + 20_000) > 0);
});

Deno.test("AddressBytes forgets an address an hour after its last send, not while one is under way", () => {
  const bytes = new AddressBytes(1_000);
  store(bytes, "a", 1, START_MS);
  const reserved = bytes.of("b", 1);
  reserved.reserve(START_MS);
  bytes.forgetExpired(START_MS + HOUR_MS - 1);
  assert.equal(bytes.size, 2);
  bytes.forgetExpired(START_MS + HOUR_MS);
  assert.equal(bytes.size, 1);
  reserved.count();
  bytes.forgetExpired(START_MS + 2 * HOUR_MS);
  assert.equal(bytes.size, 0);
});

Deno.test("AddressBytes of a clock that jumped ahead and back blocks nobody", () => {
  const bytes = new AddressBytes(1_000);
  store(bytes, "a", 1_000, START_MS + 86_400_000);
  store(bytes, "a", 1_000, START_MS);
});
