import assert from "node:assert/strict";
import type { MailAddress } from "../reading/parsed/parsed_mail.ts";
import { isSpellingOf, replyTargets } from "./reply_targets.ts";

type Message = Parameters<typeof replyTargets>[0];

const OWN = "agent@agents.test";
const bare = (local: string): MailAddress => ({ name: null, address: `${local}@example.org` });
const own: MailAddress = { name: "Agent", address: "Agent+orders@AGENTS.test" };
const inbound = (fields: Partial<Message> = {}): Message => ({
  direction: "inbound",
  from: { name: "Ann", address: "ann@example.org" },
  replyTo: [],
  to: [own, bare("bob")],
  cc: [bare("carol"), own],
  parseWarnings: [],
  ...fields,
});
const targets = (message: Message, replyAll = false) =>
  replyTargets(message, {
    ownAddress: OWN,
    replyAll,
    limits: { mailRecipientsPerMessage: 50 },
  });
const ann = { name: "Ann", address: "ann@example.org" };

Deno.test("replyTargets() answers From, or Reply-To where there is one", () => {
  assert.deepEqual(targets(inbound()), { to: [ann], cc: [], bcc: [] });
  const replyTo = [bare("list"), bare("desk")];
  assert.deepEqual(targets(inbound({ replyTo })).to, replyTo);
  assert.deepEqual(targets(inbound({ replyTo, from: null })).to, replyTo);
});

Deno.test("replyTargets() answers one's own message to those that it went to", () => {
  const message = inbound({ direction: "outbound", from: own, to: [bare("bob")], cc: [bare("c")] });
  assert.deepEqual(targets(message), { to: [bare("bob")], cc: [], bcc: [] });
  assert.deepEqual(targets(message, true), { to: [bare("bob")], cc: [bare("c")], bcc: [] });
  // Where its own answers are to go says nothing of whom it writes to.
  assert.deepEqual(targets({ ...message, replyTo: [bare("desk")] }).to, [bare("bob")]);
});

Deno.test("replyTargets() with reply_all adds the rest of To, and Cc, without the inbox", () => {
  assert.deepEqual(targets(inbound(), true), {
    to: [ann, bare("bob")],
    cc: [bare("carol")],
    bcc: [],
  });
});

Deno.test("replyTargets() never names the inbox itself, however it is spelled: then it is From", () => {
  const spellings = ["agent@agents.test", "AGENT@Agents.Test", "agent+a+b@agents.test"]
    .map((address) => ({ name: null, address }));
  for (const replyAll of [false, true]) {
    for (const self of spellings) {
      const nobodyElse = { to: [self], cc: [] };
      const asked = (fields: Partial<Message>) =>
        targets(inbound({ ...nobodyElse, ...fields }), replyAll);
      assert.deepEqual(asked({ replyTo: [self] }).to, [ann], self.address);
      assert.deepEqual(asked({ replyTo: spellings }).to, [ann]);
      assert.deepEqual(asked({ replyTo: [self, bare("desk")] }).to, [bare("desk")]);
      assert.throws(() => asked({ from: self }), { code: "invalid_email", message: /own/ });
      assert.throws(() => asked({ from: self, replyTo: [self] }), { code: "invalid_email" });
      assert.throws(() => asked({ from: null, replyTo: [self] }), { code: "invalid_email" });
      assert.throws(() => asked({ direction: "outbound" }), { code: "invalid_email" });
    }
  }
});

Deno.test("replyTargets() knows the inbox by the letters of its domain too", () => {
  const own = { name: null, address: "agent@b\u00fccher.example" };
  const message = inbound({ replyTo: [own], to: [], cc: [] });
  const found = replyTargets(message, {
    ownAddress: "agent@xn--bcher-kva.example",
    replyAll: true,
    limits: { mailRecipientsPerMessage: 50 },
  });
  assert.deepEqual(found.to, [ann]);
});

Deno.test("replyTargets() answers From where nobody signed the Reply-To, however long it is", () => {
  const parseWarnings = ["reply_to_unsigned" as const];
  for (const count of [1, 6]) {
    const replyTo = Array.from({ length: count }, (_, n) => bare(`thief${n}`));
    assert.deepEqual(targets(inbound({ replyTo, parseWarnings })).to, [ann]);
    const { to, cc } = targets(inbound({ replyTo, parseWarnings }), true);
    assert.deepEqual([to, cc], [[ann, bare("bob")], [bare("carol")]]);
    assert.throws(() => targets(inbound({ from: null, replyTo, parseWarnings })), {
      code: "invalid_email",
    });
  }
});

Deno.test("replyTargets() names each address once, whatever its case", () => {
  const message = inbound({ to: [bare("ANN"), bare("bob")], cc: [bare("Bob"), bare("carol")] });
  assert.deepEqual(targets(message, true), {
    to: [ann, bare("bob")],
    cc: [bare("carol")],
    bcc: [],
  });
});

Deno.test("replyTargets() lets those in Cc move up where nobody else is left", () => {
  assert.deepEqual(targets(inbound({ from: own, to: [own] }), true), {
    to: [bare("carol")],
    cc: [],
    bcc: [],
  });
});

Deno.test("replyTargets() refuses when nobody is left", () => {
  const nobody: [Message, boolean][] = [
    [inbound({ from: null }), false],
    [inbound({ from: own, to: [own], cc: [] }), true],
    [inbound({ from: { name: null, address: '"a b"@example.org' } }), false],
    [inbound({ from: { name: null, address: "root@[127.0.0.1]" } }), false],
    [inbound({ direction: "outbound", to: [] }), false],
  ];
  assert.equal(nobody.length, 5);
  for (const [message, replyAll] of nobody) {
    assert.throws(() => targets(message, replyAll), { code: "invalid_email" });
  }
});

Deno.test("replyTargets() refuses a list of answers", () => {
  const replyTo = Array.from({ length: 6 }, (_, n) => bare(`a${n}`));
  assert.throws(() => targets(inbound({ replyTo })), { code: "invalid_email", message: /6/ });
  assert.equal(targets(inbound({ replyTo: replyTo.slice(1) })).to.length, 5);
});

Deno.test("replyTargets() refuses more than a message may have", () => {
  const to = Array.from({ length: 50 }, (_, n) => bare(`a${n}`));
  assert.throws(() => targets(inbound({ to }), true), { code: "invalid_json", message: /52/ });
});

Deno.test("replyTargets() makes lines of the names that strangers chose", () => {
  const from = { name: " a\r\nBcc: x\u2028\ud800 b ", address: "ann@example.org" };
  assert.deepEqual(targets(inbound({ from })).to, [
    { name: "a Bcc: x \ufffd b", address: "ann@example.org" },
  ]);
  const long = { name: "😀".repeat(200), address: "ann@example.org" };
  assert.equal([...targets(inbound({ from: long })).to[0]!.name!].length, 100);
});

Deno.test("replyTargets() names no address of bounces: mail to it lies in the inbox that answers", () => {
  const bounces = {
    name: "Ann",
    address: `Bounce+${"0".repeat(26)}.00${"a".repeat(24)}@Agents.Test`,
  };
  const elsewhere = { name: null, address: "bounce+1@example.org" };
  for (const replyAll of [false, true]) {
    const asked = (fields: Partial<Message>) =>
      targets(inbound({ to: [own, bounces], cc: [bounces], ...fields }), replyAll);
    assert.deepEqual(asked({ replyTo: [bounces] }), { to: [ann], cc: [], bcc: [] });
    assert.deepEqual(asked({ replyTo: [bounces, elsewhere] }).to, [elsewhere]);
    assert.throws(() => asked({ from: bounces }), { code: "invalid_email" });
  }
});

Deno.test("isSpellingOf() compares without case and tag", () => {
  for (const address of ["agent@agents.test", "AGENT@Agents.Test", "agent+a+b@agents.test"]) {
    assert(isSpellingOf(OWN, address));
  }
  for (const address of ["agents@agents.test", "agent@agents.test.org", "agent@sub.agents.test"]) {
    assert(!isSpellingOf(OWN, address));
  }
});
