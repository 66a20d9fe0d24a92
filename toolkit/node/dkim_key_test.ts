import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { dkimKey } from "../../tests/support/outgoing_mail.ts";
import { dkimRecordName } from "../mail/dkim_record.ts";
import { dkimRecord, readDkimKey } from "./dkim_key.ts";

Deno.test("dkimRecord() and dkimRecordName() are what a name server has to answer", () => {
  assert.equal(dkimRecordName(dkimKey()), "relay1._domainkey.agents.test");
  assert.match(dkimRecord(dkimKey().privateKeyPem), /^v=DKIM1; k=rsa; p=MII[A-Za-z0-9+/]+={0,2}$/);
});

Deno.test("readDkimKey() takes PEM, PEM in one line and base64 of DER alike", () => {
  const pem = dkimKey().privateKeyPem;
  const der = pem.split("\n").filter((line) => !line.startsWith("-----")).join("");
  for (const text of [pem, pem.replaceAll("\n", "\\n"), der]) {
    assert.equal(readDkimKey(text), pem);
  }
});

Deno.test("readDkimKey() is null for other keys, short ones and what is none", () => {
  const short = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  const ed25519 = generateKeyPairSync("ed25519").privateKey;
  const keys = [short, ed25519].map((key) => key.export({ type: "pkcs8", format: "pem" }));
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const texts = [...keys, publicKey.export({ type: "spki", format: "pem" }), "nonsense", ""];
  assert.equal(texts.length, 5);
  for (const text of texts) assert.equal(readDkimKey(String(text)), null);
});
