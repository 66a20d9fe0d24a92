import assert from "node:assert/strict";
import { classifyMail } from "./automated.ts";

const PERSON = {
  headers: {},
  contentType: "text/plain; charset=utf-8",
  envelopeFrom: "ann@a.test",
  from: "ann@a.test",
};
const withHeaders = (headers: Record<string, string[]>) => classifyMail({ ...PERSON, headers });

Deno.test("classifyMail() tells bounces first", () => {
  const contentType = 'Multipart/Report; report-type=delivery-status; boundary="x"';
  const bulk = { "list-id": ["<l.a.test>"], "auto-submitted": ["auto-replied"] };
  assert.equal(classifyMail({ ...PERSON, contentType, headers: bulk }), "bounce");
  for (const from of ["MAILER-DAEMON@a.test", "postmaster@a.test"]) {
    assert.equal(classifyMail({ ...PERSON, envelopeFrom: "", from }), "bounce");
    assert.equal(classifyMail({ ...PERSON, from }), "none");
  }
  assert.equal(classifyMail({ ...PERSON, contentType: "multipart/reporting" }), "none");
});

Deno.test("classifyMail() tells automatic answers before bulk", () => {
  assert.equal(classifyMail({ ...PERSON, envelopeFrom: "" }), "auto_reply");
  assert.equal(classifyMail({ ...PERSON, envelopeFrom: "", from: null }), "auto_reply");
  assert.equal(
    withHeaders({ "auto-submitted": ["auto-replied (vacation)"], "list-id": ["x"] }),
    "auto_reply",
  );
  assert.equal(withHeaders({ "auto-submitted": ["no", "auto-generated; x=y"] }), "auto_reply");
  assert.equal(withHeaders({ "auto-submitted": [" NO ; x=y"] }), "none");
  const names = ["x-autoreply", "x-autorespond", "x-auto-response-suppress"];
  assert.deepEqual(
    names.map((name) => withHeaders({ [name]: [""] })),
    names.map(() => "auto_reply"),
  );
});

Deno.test("classifyMail() tells lists and bulk, and nothing of others", () => {
  assert.equal(withHeaders({ "list-id": ["<l.a.test>"] }), "bulk");
  assert.equal(withHeaders({ "list-unsubscribe": ["<mailto:u@a.test>"] }), "bulk");
  const words = ["bulk", "List", "JUNK"];
  assert.deepEqual(
    words.map((word) => withHeaders({ precedence: [word] })),
    words.map(() => "bulk"),
  );
  assert.equal(withHeaders({ precedence: ["first-class"], constructor: ["x"] }), "none");
  assert.equal(classifyMail(PERSON), "none");
});
