import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { BodiesInFlight } from "./bodies_in_flight.ts";

const BOUNDS = { totalBytes: 1000, smallBytes: 100, smallTotalBytes: 250 };

function post(sizeBytes: number | null): Request {
  const headers: HeadersInit = sizeBytes === null ? {} : { "content-length": String(sizeBytes) };
  return new Request("http://localhost/", { method: "POST", body: "x", headers });
}

function assertRefused(admit: () => unknown): void {
  assert.throws(admit, (error) => {
    assert.ok(error instanceof RelayError);
    assert.equal(error.code, "unavailable");
    assert.ok(error.retryAfterMs! >= 1);
    return true;
  });
}

Deno.test("BodiesInFlight refuses what does not fit beside the bodies in hand, until one is released", () => {
  const bodies = new BodiesInFlight(BOUNDS);
  const held = [bodies.admit(post(600)), bodies.admit(post(400))];
  assertRefused(() => bodies.admit(post(101)));
  bodies.release(held[1]!);
  held[1] = bodies.admit(post(400));
  for (const sizeBytes of held) bodies.release(sizeBytes);
  bodies.release(bodies.admit(post(1000)));
});

Deno.test("BodiesInFlight keeps room for small bodies that large ones cannot take", () => {
  const bodies = new BodiesInFlight(BOUNDS);
  const large = bodies.admit(post(1000));
  const small = [bodies.admit(post(100)), bodies.admit(post(100)), bodies.admit(post(50))];
  assertRefused(() => bodies.admit(post(1)));
  bodies.release(large);
  assertRefused(() => bodies.admit(post(1)));
  for (const sizeBytes of small) bodies.release(sizeBytes);
  bodies.admit(post(1));
});

Deno.test("BodiesInFlight takes one body larger than its room when there is no other", () => {
  const bodies = new BodiesInFlight(BOUNDS);
  const huge = bodies.admit(post(5000));
  assertRefused(() => bodies.admit(post(200)));
  bodies.release(huge);
  bodies.admit(post(200));
});

Deno.test("BodiesInFlight counts a body of unknown size as a large one, and none as nothing", () => {
  const bodies = new BodiesInFlight({ ...BOUNDS, totalBytes: 600_000 });
  bodies.admit(post(null));
  bodies.admit(post(null));
  assertRefused(() => bodies.admit(post(null)));
  assert.equal(bodies.admit(new Request("http://localhost/", { method: "POST" })), 0);
  // Refused by its size with 413, whatever else is in hand.
  assert.equal(bodies.admit(post(2 ** 40)), 0);
});
