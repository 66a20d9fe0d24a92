import assert from "node:assert/strict";
import { isRefusedByLists } from "./refused_by_lists.ts";

const NONE = { allow_send: [], allow_receive: [], block_receive: [] };

Deno.test("isRefusedByLists() blocks by envelope sender and From, whatever the checks say", () => {
  const inbox = { entries: { ...NONE, block_receive: ["bad.example"] } };
  const pass = { verdict: "pass" } as const;
  assert.equal(isRefusedByLists(inbox, "a@BAD.example", "b@good.example", pass), true);
  assert.equal(isRefusedByLists(inbox, "", "b@bad.example", { verdict: "error" }), true);
  assert.equal(isRefusedByLists(inbox, "a@bad.example.", null, pass), true);
  assert.equal(isRefusedByLists(inbox, "", "b@Bad.example.", pass), true);
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

Deno.test("isRefusedByLists() tells before a message is read what nothing in it can change", () => {
  const unread = { verdict: "error" } as const;
  const lists = [NONE, { ...NONE, block_receive: ["bad.example"] }, {
    ...NONE,
    allow_receive: ["good.example"],
  }];
  const froms = ["a@good.example", "a@bad.example", "a@else.example", null, undefined];
  let told = 0;
  for (const entries of lists) {
    for (const envelope of ["", "x@bad.example", "x@good.example"]) {
      for (const peeked of froms) {
        const early = isRefusedByLists({ entries }, envelope, peeked, unread);
        if (early === "unknown") continue;
        told++;
        for (const from of peeked === undefined ? froms : [peeked]) {
          for (const verdict of ["pass", "fail", "none"] as const) {
            assert.equal(isRefusedByLists({ entries }, envelope, from ?? null, { verdict }), early);
          }
        }
      }
    }
  }
  assert.ok(told > 20, `${told}`);
});
