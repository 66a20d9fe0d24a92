import assert from "node:assert/strict";
import messages from "../tests/vectors/messages.json" with { type: "json" };
import { reportExitCode } from "./cli/describe_report.ts";
import { type MessageReport, overall } from "./mod.ts";

const REPORTS = messages.cases.flatMap(({ report }) => report === undefined ? [] : [report]) as // deno-lint-ignore no-explicit-any
any as readonly MessageReport[];

const PROVEN: MessageReport = {
  canonicalString: "ok",
  signature: "valid",
  sender: "pinned",
  contentHash: "match",
  body: "bound",
  addressee: "key",
  age: { signedAt: "2025-10-09T08:53:20.000Z", skewSeconds: 0.25, within: true },
};

Deno.test("overall() is proven only when each of its verdicts holds", () => {
  assert.equal(overall(PROVEN), "proven");
  const age = { ...PROVEN.age, within: null };
  for (const addressee of ["key", "word-name", "handle", "unknown"] as const) {
    assert.equal(overall({ ...PROVEN, addressee, age }), "proven", "neither is asked for");
  }
  const changes: [Partial<MessageReport>, string][] = [
    [{ signature: "invalid" }, "false"],
    [{ contentHash: "mismatch" }, "false"],
    [{ sender: "mismatch" }, "false"],
    [{ canonicalString: "malformed" }, "false"],
    [{ age: { ...PROVEN.age, within: false } }, "false"],
    [{ signature: "not-checkable" }, "open"],
    [{ sender: "not-pinned" }, "open"],
    [{ body: "unbound" }, "open"],
    [{ body: "not-checked" }, "open"],
    [{ canonicalString: "absent", signature: "not-checkable", body: "not-checked" }, "open"],
    [{ body: "unbound", signature: "invalid" }, "false"],
  ];
  for (const [change, expected] of changes) {
    assert.equal(overall({ ...PROVEN, ...change }), expected, JSON.stringify(change));
  }
});

Deno.test("overall() agrees with the exit code of every vector", () => {
  const seen = new Set<string>();
  for (const report of REPORTS) {
    const folded = overall(report);
    seen.add(folded);
    const code = reportExitCode(report);
    const isPassed = code === 0 && report.signature === "valid" && report.sender === "pinned";
    assert.equal(folded, code === 1 ? "false" : isPassed ? "proven" : "open");
  }
  assert.equal(seen.size, 3);
});
