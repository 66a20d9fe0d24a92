import assert from "node:assert/strict";
import { type MessageJson, type ThreadJson, threadLine, whoOf } from "./mail_lines.ts";

const ADDRESS = "x@evil.example";
/** Names that say nothing, or who else somebody is. */
const DECEIVING = ["security@bank.example", "Bank \uff20 bank.example", "\u3164", "\u2800 ", " "];

Deno.test("who a line is from is told by the address where the name is written as one, or shows nothing", () => {
  const from = (name: string | null) =>
    whoOf({ direction: "inbound", from: { name, address: ADDRESS } } as MessageJson);
  for (const name of [null, ...DECEIVING]) assert.equal(from(name), ADDRESS, `${name}`);
  assert.equal(from("Ann"), "Ann");
});

Deno.test("so are those who take part in a thread, and whom a mail is to", () => {
  const people = DECEIVING.map((name) => ({ name, address: ADDRESS }));
  for (const one of people) {
    const thread = { participants: [one], last_message_at: "2026-11-23T12:00:00Z" } as ThreadJson;
    assert.equal(threadLine(thread, null, "own@relay.example", "/", false).who, ADDRESS);
    const sent = { direction: "outbound", to: [one], cc: [], bcc: [] };
    assert.equal(whoOf(sent as unknown as MessageJson), `To ${ADDRESS}`);
  }
});
