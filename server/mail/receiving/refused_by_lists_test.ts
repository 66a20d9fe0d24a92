import assert from "node:assert/strict";
import { isRefusedByLists } from "./refused_by_lists.ts";

const NONE = { allow_send: [], allow_receive: [], block_receive: [] };

Deno.test("isRefusedByLists() blocks by envelope sender and From, whatever the checks say", () => {
  const inbox = { entries: { ...NONE, block_receive: ["bad.example"] } };
  const pass = { verdict: "pass" } as const;
  assert.equal(isRefusedByLists(inbox, "a@BAD.example", "b@good.example", pass), true);
  assert.equal(isRefusedByLists(inbox, "", "b@bad.example", { verdict: "error" }), true);
  assert.equal(isRefusedByLists(inbox, "a@good.example", null, pass), false);
});

Deno.test("isRefusedByLists() lets known senders in who are authenticated, and waits where nobody can tell", () => {
  const inbox = { entries: { ...NONE, allow_receive: ["good.example"] } };
  const asked = (from: string | null, verdict: "pass" | "fail" | "error" | "none") =>
    isRefusedByLists(inbox, "a@else.example", from, { verdict });
  assert.equal(asked("b@good.example", "pass"), false);
  assert.equal(asked("b@good.example", "fail"), true);
  assert.equal(asked("b@good.example", "none"), true);
  assert.equal(asked("b@good.example", "error"), "unknown");
  assert.equal(asked("b@other.example", "error"), true);
  assert.equal(asked(null, "error"), true);
});
