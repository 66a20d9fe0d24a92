import assert from "node:assert/strict";
import { readBounceNotice } from "./bounce_notice.ts";
import { toEnd } from "../../../base/slices/sliced.ts";
import { readReport } from "./read_report.ts";
import { reportEvent } from "../../receiving/reports/report_event.ts";

const QMAIL = "Hi. This is the qmail-send program at mx.example.\n" +
  "I'm afraid I wasn't able to deliver your message to the following addresses.\n";
const EXIM = "This message was created automatically by mail delivery software.\n\n" +
  "A message that you sent could not be delivered to one or more of its\nrecipients. ";
const POSTFIX = "This is the Postfix program at host mx.example.\n\n" +
  "I'm sorry to have to inform you that the message returned\n" +
  "below could not be delivered to one or more destinations.\n\n";
const EXCHANGE = "Your message\n\n  To: a@b.example\n  Subject: Hi\n\n" +
  "did not reach the following recipient(s):\n\n";
const YAHOO =
  "Message from yahoo.com.\nUnable to deliver message to the following address(es).\n\n";

Deno.test("readBounceNotice() takes codes as they were given, and is hard by an enhanced code alone", () => {
  const cases: [string, boolean, number | null, string | null, RegExp][] = [
    [`${QMAIL}\n<a@b.example>:\nno mailbox here (#5.1.1)\n`, true, null, "5.1.1", /^no mailbox/],
    [`${QMAIL}\nThis is a permanent error; I've given up.\n`, false, null, null, /permanent/],
    [`${QMAIL}\nRemote host said: 550 no such user\n`, false, 550, null, /^no such user/],
    [
      `${EXIM}The following address(es) failed:\n  host mx [192.0.2.1]: 550 5.1.1 unknown\n  user`,
      true,
      550,
      "5.1.1",
      /^unknown user$/,
    ],
    [`${EXIM}This is a permanent\nerror.\n`, false, null, null, /^permanent error$/],
    [
      `${POSTFIX}<a@b.example>: host mx.example[192.0.2.1] said: 552 5.2.2 Mailbox\n    full\n`,
      false,
      552,
      "5.2.2",
      /^Mailbox full$/,
    ],
    [
      `${EXCHANGE}a@b.example on Fri\n  The recipient name is not recognized\n`,
      false,
      null,
      null,
      /name/,
    ],
    [
      `${YAHOO}<a@b.example>:\nThis user doesn't have a yahoo.com account\n`,
      false,
      null,
      null,
      /acc/,
    ],
    [
      "Your message did not reach some or all of the intended recipients.\n\n" +
      "Remote server replied: 550 5.1.1 <a@b.example>... User unknown\n",
      true,
      550,
      "5.1.1",
      /User unknown/,
    ],
    [
      "Delivery to the following recipient failed permanently:\n\n  a@b.example\n",
      false,
      null,
      null,
      /perm/,
    ],
  ];
  assert.equal(cases.length, 10);
  for (const [text, isHard, smtpCode, enhancedCode, detail] of cases) {
    const found = readBounceNotice(text);
    assert.ok(found !== null, text);
    const event = reportEvent(found)!;
    assert.equal(event.trigger, "reported_bounced", text);
    assert.deepEqual([event.isHard, event.said!.smtpCode, event.said!.enhancedCode], [
      isHard,
      smtpCode,
      enhancedCode,
    ], text);
    assert.match(event.said!.detail!, detail);
  }
});

Deno.test("readBounceNotice() leaves to a person what leaves doubt", () => {
  const doubtful = [
    "",
    "I am away. If it is urgent, this is a permanent error: 550 5.1.1 no such user\n",
    `> ${QMAIL.replaceAll("\n", "\n> ")}550 5.1.1 no such user\n`,
    `${"I am away until Monday.\n".repeat(31)}${QMAIL}This is a permanent error\n`,
    `${QMAIL}\n<a@b.example>:\nno word of why\n`,
    // What the mail itself said, and not the server.
    `${QMAIL}\n--- Below this line is a copy of the message.\n\n550 5.1.1 no such user\n`,
    `${POSTFIX}<a@b.example>: Name service error for b.example: Host not found, try again\n`,
    `${EXIM}It has not yet been delivered. 550 5.1.1 was said once.\n`,
    `${EXIM}Delivery attempts will continue for some time: unknown user\n`,
    // Versions and addresses are no codes.
    `${EXIM}Sent by Exim 5.1.1 at 5.1.1.5 (550 mails so far)\n`,
  ];
  assert.equal(doubtful.length, 10);
  for (const text of doubtful) assert.equal(readBounceNotice(text), null, text);
});

Deno.test("readReport() takes words from mail servers only", () => {
  const mail = (from: string) =>
    new TextEncoder().encode(`From: ${from}\r\nSubject: x\r\n\r\n${QMAIL}(#5.1.1)\r\n`);
  const [server, person] = [mail("Mail <MAILER-DAEMON@mx.example>"), mail("ann@b.example")];
  assert.equal(toEnd(readReport(server, ""))?.[0]?.status, "5.1.1");
  assert.equal(toEnd(readReport(server, "mailer-daemon@mx.example"))?.[0]?.status, "5.1.1");
  assert.equal(toEnd(readReport(server, "ann@b.example")), null);
  assert.equal(toEnd(readReport(person, "")), null);
  assert.equal(toEnd(readReport(new Uint8Array(), "")), null);
});

Deno.test("readBounceNotice() stays quick on hostile texts", () => {
  const hostile = [
    "exceeds ".repeat(30_000),
    `${QMAIL}${"exceeds a b c ".repeat(20_000)}`,
    `${QMAIL}${"code ".repeat(50_000)}`,
    `${QMAIL}${"doesn't have an ".repeat(16_000)}`,
    `${QMAIL}${"host ".repeat(50_000)}`,
    `${QMAIL}${"a@".repeat(120_000)}`,
    `${QMAIL}${"5.1.1.".repeat(40_000)}`,
    `${QMAIL}${`${"x@".repeat(240)}\n`.repeat(500)}`,
    `${QMAIL}${`${"-".repeat(480)}\n`.repeat(500)}`,
    `${QMAIL}${" ".repeat(250_000)}`,
    "\n".repeat(250_000),
    "-".repeat(250_000),
    "This is the ".repeat(20_000),
  ];
  assert.equal(hostile.length, 13);
  for (const text of hostile) {
    const beganMs = performance.now();
    readBounceNotice(text);
    const tookMs = performance.now() - beganMs;
    assert.ok(tookMs < 200, `${text.slice(100, 130)} took ${tookMs} ms`);
  }
});
