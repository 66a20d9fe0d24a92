import assert from "node:assert/strict";
import messages from "../../tests/vectors/messages.json" with { type: "json" };
import { reportExitCode } from "../cli/describe_report.ts";
import { type MessageReport, verifyMessage } from "../mod.ts";
import { describeVerdicts, type Given, NOT_PROVEN, outcomeOf } from "./describe_verdicts.ts";
import { ALTERED_EXAMPLE, EXAMPLE_MESSAGE, EXAMPLE_RECIPIENT, EXAMPLE_SENDER } from "./example.ts";

const REPORTS = messages.cases.flatMap(({ report }) => report === undefined ? [] : [report]) as // deno-lint-ignore no-explicit-any
any as readonly MessageReport[];
const ALL_GIVEN: readonly Given[] = [false, true].flatMap((hasRecipient) =>
  [false, true].map((hasRequest) => ({ hasRecipient, hasRequest }))
);

Deno.test("outcomeOf() says of every vector what the command line's exit code says", () => {
  const codes = { passed: 0, false: 1, "not-bound": 3 };
  const seen = new Set<string>();
  for (const report of REPORTS) {
    assert.equal(codes[outcomeOf(report)], reportExitCode(report), JSON.stringify(report));
    seen.add(outcomeOf(report));
  }
  assert.equal(seen.size, 3);
});

Deno.test("describeVerdicts() gives each claim one sentence, and never calls a message verified", () => {
  assert.ok(REPORTS.length >= 20, String(REPORTS.length));
  assert.equal(ALL_GIVEN.length, 4);
  for (const report of REPORTS) {
    for (const given of ALL_GIVEN) {
      const verdicts = describeVerdicts(report, given);
      assert.deepEqual(
        verdicts.map(({ claim }) => claim),
        ["Signature", "Signer", "Body", "Content hash", "Signed string", "Time"],
      );
      for (const { words } of verdicts) {
        assert.match(words, /^[A-Z“].*\.$/);
        assert.doesNotMatch(words, /verified|undefined|null\b(?!, so|\.)/i);
      }
    }
  }
});

Deno.test("describeVerdicts() calls a bound body proven only under a valid signature", () => {
  const body = (report: MessageReport) =>
    describeVerdicts(report, { hasRecipient: true, hasRequest: false })
      .find(({ claim }) => claim === "Body")!;
  const bound = REPORTS.filter((report) => report.body === "bound");
  assert.ok(bound.some(({ signature }) => signature !== "valid"));
  for (const report of bound) {
    assert.equal(body(report).outcome, report.signature === "valid" ? "holds" : "open");
  }
  for (const report of REPORTS.filter(({ body }) => body !== "bound")) {
    assert.equal(body(report).outcome, "open");
    assert.match(body(report).words, /^Not bound to the signature: /);
  }
});

Deno.test("describeVerdicts() says how a body could be bound with what is missing", () => {
  const unbound = REPORTS.find((report) =>
    report.body === "unbound" && report.canonicalString === "ok" && report.contentHash === "match"
  )!;
  const words = (hasRecipient: boolean, hasRequest: boolean) =>
    describeVerdicts(unbound, { hasRecipient, hasRequest })[2]!.words;
  assert.match(words(false, false), /enter the recipient's address, or add the signed request/);
  assert.match(words(true, false), /handle or long word name too, or add the signed request/);
  assert.match(words(false, true), /is not this message's\./);
  assert.match(words(true, true), /or not to this recipient\./);
});

Deno.test("the page's examples: one holds in every claim, the altered one is false", async () => {
  const options = { from: EXAMPLE_SENDER, recipient: { address: EXAMPLE_RECIPIENT } };
  const report = await verifyMessage(EXAMPLE_MESSAGE, { ...options, maxSkewSeconds: 300 });
  const given = { hasRecipient: true, hasRequest: false };
  assert.deepEqual(
    describeVerdicts(report, given).map(({ outcome }) => outcome),
    Array(6).fill("holds"),
  );
  assert.equal(outcomeOf(await verifyMessage(ALTERED_EXAMPLE, options)), "false");
});

Deno.test("NOT_PROVEN names what no verdict proves", () => {
  const all = NOT_PROVEN.join("\n");
  for (
    const part of [/behind a key/, /handle/, /Whom/, /When/, /first time/, /relay it/, /not bound/]
  ) assert.match(all, part);
});
