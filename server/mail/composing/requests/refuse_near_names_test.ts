import assert from "node:assert/strict";
import { RelayError } from "../../../base/errors.ts";
import { refuseNearNames } from "./refuse_near_names.ts";

const KNOWN = ["to", "cc", "bcc", "send_at", "reply_to", "attachments", "content_id"];

Deno.test("refuseNearNames() refuses what was meant for a known field, and names that", () => {
  const meant: [string, string][] = [
    ["sendAt", "send_at"],
    ["SEND_AT", "send_at"],
    ["sendat", "send_at"],
    ["_send__at_", "send_at"],
    ["send_a", "send_at"],
    ["sendd_at", "send_at"],
    ["sent_at", "send_at"],
    ["replyTo", "reply_to"],
    ["attachment", "attachments"],
    ["Attachments", "attachments"],
    ["contentId", "content_id"],
    ["To", "to"],
    ["bbcc", "bcc"],
  ];
  assert.equal(meant.length, 13);
  for (const [name, known] of meant) {
    const near = () => refuseNearNames({ [name]: 1 }, KNOWN, "attachments[0].");
    assert.throws(near, (error) => {
      assert.ok(error instanceof RelayError && error.code === "invalid_json");
      assert.match(
        error.message,
        new RegExp(`^attachments\\[0\\]\\.${name} .* attachments\\[0\\]\\.${known},`),
      );
      return true;
    });
  }
});

Deno.test("refuseNearNames() takes known names, and ignores what is two letters off", () => {
  refuseNearNames(Object.fromEntries(KNOWN.map((name) => [name, 1])), KNOWN);
  const others = [
    "send_later",
    "when",
    "from",
    "priority",
    "",
    "_",
    "attach",
    "replay_tt",
    "x".repeat(100_000),
  ];
  refuseNearNames(Object.fromEntries(others.map((name) => [name, 1])), KNOWN);
});
