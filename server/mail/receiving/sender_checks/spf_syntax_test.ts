import assert from "node:assert/strict";
import type { DnsAnswer } from "../../../../toolkit/mail/dns_message.ts";
import { checkAuth } from "./check_auth.ts";
import type { MailClient } from "./auth_messages.ts";
import { isSpfSyntax } from "./spf_syntax.ts";

Deno.test("isSpfSyntax() takes records as they are, and no others", () => {
  const sound = [
    "v=spf1",
    "v=spf1  a mx/24 ptr -all ",
    "v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 include:_spf.example.com ~all",
    "v=spf1 exists:%{ir}.%{l1r+-}._spf.%{d} redirect=%{d2}.example.com.",
    "v=spf1 include:%{h} EXP=why.example.com a:%%x.example a//64 ?all",
    "v=spf1 x-thing=%{c}anything -all",
  ];
  const broken = [
    "v=spf1 -all ip6",
    "v=spf1 -all ip4/24",
    "v=spf1 -all include",
    "v=spf1 -all exists:",
    "v=spf1 -all include:nodots",
    "v=spf1 -all include:a.123",
    "v=spf1 -all redirect=a.-b",
    "v=spf1 exp=a.example exp=b.example -all",
    "v=spf1 redirect=a.example redirect=b.example",
    "v=spf1 -all exp=",
    "v=spf1 exists:%{c}.example.com -all",
    "v=spf1 a:%(d).example.com -all",
    "v=spf1 a:%{d.example.com -all",
    "v=spf1 -exp=a.example.com",
    "v=spf1 -all =x",
  ];
  assert.deepEqual([sound.length, broken.length], [6, 15]);
  for (const record of sound) assert.ok(isSpfSyntax(record), record);
  for (const record of broken) assert.ok(!isSpfSyntax(record), record);
});

Deno.test("isSpfSyntax() stays quick on hostile records", () => {
  const hostile = ["%{d}", "%{d", "a.", "a-", "%", "exp=", "a:%{d99999"].map((piece) =>
    `v=spf1 include:${piece.repeat(20_000)}`
  );
  for (const record of [...hostile, `v=spf1 ${"a ".repeat(50_000)}`]) {
    const beganMs = performance.now();
    isSpfSyntax(record);
    const tookMs = performance.now() - beganMs;
    assert.ok(tookMs < 200, `${record.slice(0, 30)} took ${tookMs} ms`);
  }
});

Deno.test("SPF is that of postmaster without a local part, and a client without a name matches nothing", async () => {
  const zone: Record<string, DnsAnswer> = {
    "example.net": { records: [["v=spf1 exists:%{l}.ok.example.net -all"]] },
    "postmaster.ok.example.net": { records: ["127.0.0.2"] },
    "helo.example.net": { records: [["v=spf1 a:%{h} -all"]] },
  };
  const asked: string[] = [];
  const spf = async (client: Partial<MailClient>) => {
    const found = await checkAuth(
      new TextEncoder().encode("Subject: x\r\n\r\nx\r\n"),
      { clientIp: "192.0.2.1", helo: null, envelopeFrom: "", ...client },
      0,
      (name) => {
        asked.push(name);
        return Promise.resolve(zone[name] ?? { code: "ENOTFOUND" });
      },
      { begun() {}, hashed() {} },
    );
    return found.auth.spf;
  };
  assert.equal(await spf({ envelopeFrom: "@example.net" }), "pass");
  assert.equal(await spf({ envelopeFrom: "ann@example.net" }), "fail");
  for (const helo of [null, "[192.0.2.1]", "OEMCOMPUTER", "not a name"]) {
    assert.equal(await spf({ envelopeFrom: "ann@helo.example.net", helo }), "fail", String(helo));
  }
  assert.ok(!asked.some((name) => name.endsWith(".invalid")), "nobody is asked for it");
});
