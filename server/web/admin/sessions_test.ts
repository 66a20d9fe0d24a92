import assert from "node:assert/strict";
import { SESSION_MS, Sessions } from "./sessions.ts";

const OPTIONS = {
  adminToken: "t".repeat(32),
  storeKey: new Uint8Array(32).fill(7),
  random: (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
};

Deno.test("Sessions: a session is open for an hour, in every process of the same store and token", () => {
  const value = new Sessions(OPTIONS).issue(1_000);
  const other = new Sessions(OPTIONS);
  assert.ok(other.isOpen(value, 1_000));
  assert.ok(other.isOpen(value, 1_000 + SESSION_MS - 1));
  assert.ok(!other.isOpen(value, 1_000 + SESSION_MS));
  assert.ok(!other.isOpen(value, 999), "a clock that was set back");
  assert.ok(!value.includes(OPTIONS.adminToken));
  assert.notEqual(value, new Sessions(OPTIONS).issue(1_000));
});

Deno.test("Sessions: another token, another store and any changed character close it", () => {
  const sessions = new Sessions(OPTIONS);
  const value = sessions.issue(1_000);
  assert.ok(!new Sessions({ ...OPTIONS, adminToken: "u".repeat(32) }).isOpen(value, 1_000));
  assert.ok(!new Sessions({ ...OPTIONS, storeKey: new Uint8Array(32) }).isOpen(value, 1_000));
  assert.ok(value.length > 70);
  for (let i = 0; i < value.length; i++) {
    const changed = value.slice(0, i) + (value[i] === "A" ? "B" : "A") + value.slice(i + 1);
    // The last character of base64url has bits that stand for nothing: its text is compared.
    assert.ok(!sessions.isOpen(changed, 1_000), String(i));
  }
  const later = value.replace(/^1\.\d+/, (start) => `1.${Number(start.slice(2)) + 1_000}`);
  for (
    const bad of ["", "1", later, `${value}.`, ` ${value}`, OPTIONS.adminToken, "x".repeat(9_000)]
  ) {
    assert.ok(!sessions.isOpen(bad, 1_000), bad.slice(0, 40));
  }
});

Deno.test("Sessions: a session that was signed out is closed, others stay", () => {
  const sessions = new Sessions(OPTIONS);
  const [first, second] = [sessions.issue(0), sessions.issue(0)];
  sessions.revoke(first, 1);
  sessions.revoke("nonsense", 1);
  assert.ok(!sessions.isOpen(first, 1));
  assert.ok(sessions.isOpen(second, 1));
});
