/** Mails and DNS answers that want the relay's time: bounded, and never on its main thread. */
import assert from "node:assert/strict";
import type { StartWorker } from "../../../server/base/workers/start_worker.ts";
import { startAuthWorker } from "../../../server/mail/receiving/sender_checks/auth_checker.ts";
import { startAuthRig } from "../../support/auth_rig.ts";
import { dkimSigned, makeDkimKey } from "../../support/dkim_mail.ts";
import type { ScriptedRecords } from "../../support/dns_server.ts";

const MAIL = "From: a@example.org\r\nSubject: x\r\n\r\nhello\r\n";
const MIB = 1024 * 1024;
/** A worker that says nothing for so long is ended. */
const SILENCE_MS = 10_000;

/** A signature that has the library hash a body, up to a length of its own. */
const wanting = (lengthBytes: number, form = "relaxed/relaxed") =>
  `DKIM-Signature: v=1; a=rsa-sha256; c=${form}; d=example.org; s=s1; h=from; ` +
  `${lengthBytes === 0 ? "" : `l=${lengthBytes}; `}bh=AAAA; b=AAAA\r\n`;

/** The longest time for which the main thread did nothing else while this ran. */
async function longestGapMs(work: () => Promise<void>): Promise<number> {
  let [last, longest] = [performance.now(), 0];
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 5);
  await work();
  clearInterval(timer);
  return longest;
}

Deno.test("AuthChecker.check() asks for ten keys at most, and for each once", async () => {
  await using rig = startAuthRig();
  const many = Array.from({ length: 200 }, (_, i) => wanting(0).replace("s=s1", `s=k${i}`)).join(
    "",
  );
  assert.equal((await rig.check(many + MAIL)).dkim, "fail");
  const keys = () => rig.dns.asked.filter((asked) => asked.includes("_domainkey"));
  assert.deepEqual(
    keys(),
    Array.from({ length: 10 }, (_, i) => `TXT k${i}._domainkey.example.org`),
  );
  rig.dns.asked.length = 0;
  await rig.check(wanting(0).repeat(200) + MAIL);
  assert.equal(keys().length, 1);
});

Deno.test("AuthChecker.check() asks DNS a bounded number of questions, whatever the answers say", async () => {
  const zone: Record<string, ScriptedRecords> = {
    "TXT example.org": {
      TXT: [`v=spf1 ${Array.from({ length: 9 }, (_, i) => `mx:m${i}.example`).join(" ")} ptr -all`],
    },
    "PTR 1.2.0.192.in-addr.arpa": { PTR: Array.from({ length: 50 }, (_, i) => `p${i}.example`) },
    "TXT loop.example": { TXT: ["v=spf1 include:loop.example include:loop.example -all"] },
  };
  for (let i = 0; i < 9; i++) {
    zone[`MX m${i}.example`] = { MX: Array.from({ length: 10 }, (_, j) => `1 h${i}-${j}.example`) };
    for (let j = 0; j < 10; j++) zone[`A h${i}-${j}.example`] = { A: ["203.0.113.1"] };
  }
  await using rig = startAuthRig(zone);
  assert.equal((await rig.check(MAIL)).spf, "temperror");
  assert.ok(rig.dns.asked.length >= 50 && rig.dns.asked.length <= 60, `${rig.dns.asked.length}`);
  rig.dns.asked.length = 0;
  assert.equal((await rig.check(MAIL, { envelopeFrom: "a@loop.example" })).spf, "permerror");
  assert.ok(rig.dns.asked.length < 5, "the same question is asked once");
});

Deno.test("AuthChecker.check() is done in time where DNS never answers, and keeps what it knows", async () => {
  const lookups = { timeMs: 500, questions: 60 };
  const key = makeDkimKey();
  const zone: Record<string, ScriptedRecords> = {
    "TXT example.org": "silence",
    "TXT s1._domainkey.example.org": { TXT: [key.record] },
    "TXT _dmarc.example.org": { TXT: ["v=DMARC1; p=reject"] },
  };
  await using rig = startAuthRig(zone, { lookups });
  const mail = await dkimSigned(MAIL, "example.org", "s1", key);
  assert.deepEqual(await rig.check(mail), {
    spf: "temperror",
    dkim: "pass",
    dmarc: "pass",
    fromDomain: "example.org",
    verdict: "pass",
  });
  // A slow signature in front does not hide the failure of the From's own domain.
  const slow = wanting(0).replaceAll("example.org", "slow.example");
  rig.dns.zone.set("TXT s1._domainkey.slow.example", "silence");
  const forged = await rig.check(slow + MAIL, { clientIp: null });
  assert.deepEqual([forged.dmarc, forged.verdict], ["fail", "fail"]);
  for (const name of ["TXT s1._domainkey.example.org", "TXT _dmarc.example.org"]) {
    rig.dns.zone.set(name, "silence");
  }
  const beganMs = performance.now();
  assert.deepEqual(await rig.check(mail), {
    spf: "temperror",
    dkim: "temperror",
    dmarc: "temperror",
    fromDomain: "example.org",
    verdict: "error",
  });
  assert.ok(performance.now() - beganMs < 3_000);
});

Deno.test("AuthChecker.check() refuses answers that are too large to be meant", async () => {
  await using rig = startAuthRig();
  const results: [string, string][] = [
    [`v=spf1 ${"ip4:192.0.2.1 ".repeat(300)}-all`, "permerror"],
    [`v=spf1 ${"exists:%{s}%{s}%{s}%{s}.example ".repeat(10)}-all`, "permerror"],
    [`v=spf1 redirect=${"%{s}".repeat(1_000)}`, "permerror"],
    [`v=spf1 redirect=${"a.%{s}".repeat(30)}!`, "permerror"],
    [`v=spf1 ip4:192.0.2.1 ${"x".repeat(30_000)}`, "permerror"],
  ];
  const client = { envelopeFrom: `${"a".repeat(240)}@example.org` };
  for (const [text, expected] of results) {
    rig.dns.zone.set("TXT example.org", { TXT: [text] });
    assert.equal((await rig.check(MAIL, client)).spf, expected, text.slice(0, 40));
  }
  // A hundred records; the first one is meant, the others change nothing.
  const many = Array.from({ length: 100 }, (_, i) => `token-${i}=${"y".repeat(500)}`);
  rig.dns.zone.set("TXT example.org", { TXT: ["v=spf1 ip4:192.0.2.1 -all", ...many] });
  assert.equal((await rig.check(MAIL)).spf, "pass");
});

Deno.test("AuthChecker.check() takes bounded time for mails of 25 MiB of every bad form, off the main thread", async () => {
  await using rig = startAuthRig();
  await rig.check(MAIL); // the worker has started
  const head = Array.from(
    { length: 10 },
    (_, i) => wanting(i < 2 ? 0 : i * MIB, i % 2 ? "relaxed" : "relaxed/relaxed"),
  ).join("");
  const filled = (text: string, sizeBytes = 25 * MIB) =>
    text.repeat(Math.ceil(sizeBytes / text.length));
  const shapes: [string, string][] = [
    ["one line", `${head}${MAIL}${filled("a")}`],
    ["one line of spaces", `${head}${MAIL}${filled(" ")}x`],
    ["lines of a space", `${head}${MAIL}${filled(" \r\n")}`],
    ["bare line feeds", `${head}${MAIL}${filled("\n")}`],
    ["tabs", `${head}${MAIL}${filled("\t\t\ta\r\n")}`],
    [
      "boundaries",
      `${head}Content-Type: multipart/mixed; boundary=x\r\n${MAIL}${filled("--x\r\n")}`,
    ],
    ["a header without an end", `${head}From: a@example.org\r\n${filled("X: y\r\n")}`],
    ["folded lines", `${head}From: a@example.org\r\nX: y\r\n${filled(" \n")}`],
    [
      "many lines within the bounds",
      `${head}From: a@example.org\r\nX: y\r\n${filled(" y\r\n", 16 * 1024)}${MAIL}`,
    ],
    ["carriage returns", `${head}From: a@example.org\r\nX: ${filled("\r", MIB / 4)}y\r\n${MAIL}`],
    ["a From of commas", `${head}From: ${filled(",", MIB / 4)}\r\n\r\nx`],
    ["semicolons", `DKIM-Signature: ${filled(";", MIB / 4)} b=x\r\n${MAIL}`],
    [
      "a long list of fields",
      `${wanting(0).replace("h=from", `h=from${filled(":a", 3_000)}`).repeat(10)}${
        filled("b: c\r\n", 28_000)
      }${MAIL}`,
    ],
    ["nested groups", `From: ${filled("a:", 8_000)}\r\n\r\nx`],
    ["quotes", `From: ${filled('"(<', 8_000)}\r\n\r\nx`],
  ];
  const encoder = new TextEncoder();
  const taken: string[] = [];
  for (const [what, text] of shapes) {
    const mail = encoder.encode(text);
    // The machine may have others to serve: what stays is what this work itself does.
    let gapMs = Infinity;
    for (let tries = 0; tries < 3 && gapMs >= 100; tries++) {
      const beganMs = performance.now();
      gapMs = await longestGapMs(async () => {
        const auth = await rig.check(mail);
        assert.notEqual(auth.verdict, "pass", what);
      });
      const tookMs = performance.now() - beganMs;
      taken.push(`${what}: ${Math.round(tookMs)} ms, gap ${Math.round(gapMs)} ms`);
      assert.ok(tookMs < SILENCE_MS / 2, taken.at(-1));
    }
    assert.ok(gapMs < 100, taken.at(-1));
    assert.deepEqual(rig.losses, [], what);
  }
  if (Deno.env.has("TELL")) console.log(taken.join("\n"));
});

Deno.test("AuthChecker.check() answers all mails when the worker dies, and starts another", async () => {
  const kills: (() => void)[] = [];
  const start: StartWorker = (events) => {
    const worker = startAuthWorker(events);
    kills.push(() => events.died(new Error("gone")));
    return worker;
  };
  const zone: Record<string, ScriptedRecords> = { "TXT example.org": "silence" };
  await using rig = startAuthRig(zone, { start });
  await rig.check(MAIL, { clientIp: null });
  const broken = rig.check(MAIL);
  const unknown = rig.check("Subject: no From\r\n\r\n");
  while (rig.dns.asked.filter((asked) => asked === "TXT example.org").length < 2) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  kills[0]!();
  assert.deepEqual(await broken, {
    spf: "temperror",
    dkim: "temperror",
    dmarc: "temperror",
    fromDomain: "example.org",
    verdict: "error",
  });
  assert.deepEqual((await unknown).verdict, "fail");
  assert.equal(rig.losses.length, 1);
  rig.dns.zone.set("TXT example.org", { TXT: ["v=spf1 +all"] });
  assert.equal((await rig.check(MAIL)).verdict, "pass");
  assert.equal(kills.length, 2);
});
