import assert from "node:assert/strict";
import { toEnd } from "../../../base/slices/sliced.ts";
import { walkParts } from "../mime/walk_parts.ts";
import { type DsnRecipient, readDsn, reportedOn } from "./dsn.ts";
import { reportEvent } from "../../receiving/reports/report_event.ts";

const bytes = (text: string) => new TextEncoder().encode(text.replaceAll("\n", "\r\n"));

const read = (raw: Uint8Array) =>
  toEnd(readDsn(raw, toEnd(walkParts(raw, { parts: 50, depth: 4 }, new Set()))));

/** A report with these lines as its machine-readable part. */
function report(status: string, {
  type = 'multipart/report; report-type=delivery-status; boundary="b1"',
  part = "message/delivery-status",
  encoding = "",
} = {}): Uint8Array {
  return bytes(`From: MAILER-DAEMON@mx.example
To: bounce+x@agents.test
Subject: Undelivered Mail
Content-Type: ${type}

preamble
--b1
Content-Type: text/plain

Could not be delivered.

--b1
Content-Type: ${part}${encoding === "" ? "" : `\nContent-Transfer-Encoding: ${encoding}`}

${status}
--b1
Content-Type: message/rfc822

Subject: hello
Content-Type: message/delivery-status

Action: delivered
Final-Recipient: rfc822; forged@example.org
--b1--
`);
}

const FAILED = `Reporting-MTA: dns; mx.example
Arrival-Date: Mon, 1 Jun 2026 12:00:00 +0000

Final-Recipient: rfc822; Reader@Example.org
Original-Recipient: rfc822;alias@example.org
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx2.example
Diagnostic-Code: smtp; 550 5.1.1 <reader@example.org>: Recipient address
    rejected: User unknown
`;

Deno.test("readDsn() reads the report of a failure with folded lines", () => {
  assert.deepEqual(read(report(FAILED)), [{
    action: "failed",
    status: "5.1.1",
    diagnostic: {
      type: "smtp",
      text: "550 5.1.1 <reader@example.org>: Recipient address rejected: User unknown",
    },
    addresses: ["alias@example.org", "reader@example.org"],
  }]);
});

Deno.test("readDsn() reads reports in base64, quoted-printable, within other parts, with bare LF", () => {
  const wanted = read(report(FAILED));
  const base64 = btoa(FAILED.replaceAll("\n", "\r\n")).replaceAll(/(.{60})/g, "$1\n");
  const quoted = FAILED.replaceAll("=", "=3D").replace("Reader@", "R=65ader=40").replace(
    "Recipient address",
    "Recipient =\naddress",
  );
  const plain = new TextDecoder().decode(report(FAILED));
  const nested = bytes(
    "Content-Type: multipart/mixed;\n boundary=outer\n\n--outer\n",
  );
  const variants: [string, Uint8Array][] = [
    ["base64", report(base64, { part: "message/global-delivery-status", encoding: "base64" })],
    ["quoted-printable", report(quoted, { encoding: "Quoted-Printable" })],
    ["no report-type", report(FAILED, { type: "multipart/report; boundary=b1" })],
    ["mixed", report(FAILED, { type: "multipart/mixed; boundary=b1" })],
    ["capitals", report(FAILED, { type: "Multipart/Report; BOUNDARY=b1" })],
    ["bare LF", new TextEncoder().encode(plain.replaceAll("\r\n", "\n"))],
    ["nested", new Uint8Array([...nested, ...report(FAILED), ...bytes("\n--outer--\n")])],
  ];
  assert.equal(variants.length, 7);
  for (const [what, raw] of variants) assert.deepEqual(read(raw), wanted, what);
});

Deno.test("readDsn() takes no other message for a report", () => {
  const others: [string, Uint8Array][] = [
    ["plain", bytes("Subject: out of office\n\nAction: failed\nStatus: 5.1.1\n")],
    [
      "read receipt",
      report("Final-Recipient: rfc822; a@b.example\nDisposition: automatic-action", {
        type: "multipart/report; report-type=disposition-notification; boundary=b1",
        part: "message/disposition-notification",
      }),
    ],
    ["alone", bytes(`Content-Type: message/delivery-status\n\n${FAILED}`)],
    [
      "attached mail with one",
      bytes(`Content-Type: multipart/mixed; boundary=b

--b
Content-Type: message/rfc822

${new TextDecoder().decode(report(FAILED)).replaceAll("\r", "")}
--b--`),
    ],
    ["no boundary", report(FAILED, { type: "multipart/report" })],
    ["empty boundary", report(FAILED, { type: 'multipart/report; boundary=""' })],
    ["empty", new Uint8Array()],
  ];
  assert.equal(others.length, 7);
  for (const [what, raw] of others) assert.deepEqual(read(raw), [], what);
});

Deno.test("readDsn() reads several recipients, and actions that are left out", () => {
  const found = read(report(`Reporting-MTA: dns; mx.example
Status: 5.0.0

Final-Recipient: rfc822;<one@example.org>
Status: 4.4.7 (expired)

Final-Recipient: two@example.org
Action: Delivered (to mailbox)
Status: 2.0.0

Final-Recipient: four@example.org
Action: failure
Status: 553 too large

X-Other: nothing

Final-Recipient: rfc822;three@example.org
Action: unheard-of
Status: nonsense
`));
  const brief = found.map(({ action, status, addresses }) => [action, status, ...addresses]);
  assert.deepEqual(brief, [
    ["delayed", "4.4.7", "one@example.org"],
    ["delivered", "2.0.0", "two@example.org"],
    ["failed", null, "four@example.org"],
  ]);
  assert.equal(reportedOn(found, "TWO@example.org"), found[1]);
  assert.equal(reportedOn(found, "other@example.org"), found[2]);
  assert.equal(reportedOn([], "other@example.org"), null);
});

Deno.test("readDsn() stays quick on hostile reports", () => {
  const repeated = "Final-Recipient: rfc822;a@b.example\nAction: failed\n\n";
  const hostile: [string, Uint8Array][] = [
    ["many groups", report(repeated.repeat(20_000))],
    ["many boundaries", report("--b1\n".repeat(200_000))],
    ["many markers in a line", report("--b1 x".repeat(200_000))],
    ["spaces", report(`Diagnostic-Code:${" ".repeat(900_000)}x`)],
    ["folded", report(`Diagnostic-Code: smtp;\n${" x\n".repeat(300_000)}`)],
    ["blank lines", report("\n \n".repeat(300_000))],
    [
      "parameters",
      report(FAILED, { type: `multipart/report${";boundary ".repeat(80_000)}; boundary=b1` }),
    ],
    ["quotes", report(FAILED, { type: `multipart/report${';boundary="'.repeat(80_000)}` })],
    ["quoted-printable", report(" =".repeat(400_000), { encoding: "quoted-printable" })],
    ["quoted spaces", report(" ".repeat(900_000), { encoding: "quoted-printable" })],
    ["large", report(`${"x".repeat(30_000_000)}`)],
  ];
  assert.equal(hostile.length, 11);
  for (const [what, raw] of hostile) {
    const beganMs = performance.now();
    const found = read(raw);
    const tookMs = performance.now() - beganMs;
    assert.ok(tookMs < 500, `${what} took ${tookMs} ms`);
    assert.ok(found.length <= 100, what);
  }
});

const recipient = (changes: Partial<DsnRecipient>): DsnRecipient => ({
  action: "failed",
  status: null,
  diagnostic: null,
  addresses: [],
  ...changes,
});
const smtp = (text: string) => ({ type: "smtp", text });

Deno.test("reportEvent() tells hard from soft, and the codes as they were given", () => {
  const cases: [Partial<DsnRecipient>, string | null, boolean, number | null, string | null][] = [
    [{ status: "5.1.1" }, "reported_bounced", true, null, "5.1.1"],
    [{ status: "5.2.1" }, "reported_bounced", true, null, "5.2.1"],
    [{ status: "5.2.2" }, "reported_bounced", false, null, "5.2.2"],
    [{ status: "4.4.7" }, "reported_bounced", false, null, "4.4.7"],
    [{}, "reported_bounced", false, null, null],
    [
      { status: "5.0.0", diagnostic: smtp("550 5.1.1 no such user") },
      "reported_bounced",
      true,
      550,
      "5.1.1",
    ],
    [
      { status: "5.7.1", diagnostic: smtp("550 5.1.1 odd") },
      "reported_bounced",
      false,
      550,
      "5.7.1",
    ],
    // Where the 550 was said is not known.
    [
      { status: "5.0.0", diagnostic: smtp("550 no such user") },
      "reported_bounced",
      false,
      550,
      "5.0.0",
    ],
    [
      { status: "5.0.0", diagnostic: { type: "x-unix", text: "550 5.1.1 x" } },
      "reported_bounced",
      false,
      null,
      "5.0.0",
    ],
    [{ action: "delivered", status: "2.0.0" }, "reported_delivered", false, null, "2.0.0"],
    [{ action: "expanded", status: "2.1.5" }, "reported_delivered", false, null, "2.1.5"],
  ];
  assert.equal(cases.length, 11);
  for (const [report, trigger, isHard, smtpCode, enhancedCode] of cases) {
    const event = reportEvent(recipient(report))!;
    assert.deepEqual(
      [event.trigger, event.isHard, event.said!.smtpCode, event.said!.enhancedCode],
      [trigger, isHard, smtpCode, enhancedCode],
      JSON.stringify(report),
    );
  }
  assert.equal(reportEvent(recipient({ action: "delayed", status: "4.4.1" })), null);
  assert.equal(reportEvent(recipient({ action: "relayed", status: "2.0.0" })), null);
});
