import assert from "node:assert/strict";
import { CapturedMails } from "./captured_mails.ts";
import { type MailContent, NO_PARTS } from "./mail_content.ts";

const CONTENT: MailContent = {
  from: "",
  to: "",
  subject: "",
  text: "",
  isCut: false,
  hasHtml: false,
  attachments: [],
  links: [],
  codes: [],
  parts: NO_PARTS,
  sizeBytes: 10,
};
const OF = { atMs: 0, result: "sent", content: CONTENT } as const;
const mailOf = (sizeBytes: number) => ({
  from: "a@x.test",
  to: "b@x.test",
  content: new Uint8Array(sizeBytes),
});

Deno.test("CapturedMails keeps the newest by number and by bytes, and numbers go on", () => {
  const mails = new CapturedMails({ mails: 3, bytes: 100 });
  const numbers = () => mails.newestFirst.map(({ number }) => number);
  for (let i = 0; i < 5; i++) mails.add(mailOf(1), OF);
  assert.deepEqual(numbers(), [5, 4, 3]);
  mails.add(mailOf(70), OF);
  assert.deepEqual(numbers(), [6, 5]);
  assert.deepEqual([4, 5, 6, 7].map((n) => mails.find(n)?.number), [undefined, 5, 6, undefined]);
  mails.add(mailOf(91), OF);
  assert.deepEqual(numbers(), [], "one that is too large for the bound is not kept either");
  assert.equal(mails.add(mailOf(1), OF).number, 8);
  assert.equal(mails.find(0), undefined);
  assert.equal(mails.find(8)!.number, 8);
});

Deno.test("CapturedMails keeps 500 mails and 64 MiB", () => {
  const many = new CapturedMails();
  for (let i = 0; i < 510; i++) many.add(mailOf(1), OF);
  assert.deepEqual([many.newestFirst.length, many.newestFirst.at(-1)!.number], [500, 11]);
  const large = new CapturedMails();
  for (let i = 0; i < 20; i++) large.add(mailOf(8 * 2 ** 20 - 10), OF);
  assert.equal(large.newestFirst.length, 8);
});

Deno.test("CapturedMails keeps the bytes as they were, whatever becomes of the sender's buffer", () => {
  const mails = new CapturedMails();
  const mail = mailOf(4);
  mails.add(mail, OF);
  mail.content.fill(7);
  assert.deepEqual(mails.find(1)!.raw, new Uint8Array(4));
});

Deno.test("CapturedMails keeps what was refused and what came apart from what was sent, all in one list", () => {
  const mails = new CapturedMails();
  let told = 0;
  const unfollow = mails.follow(() => told++);
  const of = (atMs: number) => ({ atMs, content: CONTENT });
  mails.add(mailOf(1), OF);
  const refused = { ...of(1), result: "deferred", reason: "451" } as const;
  mails.addRefused(mailOf(2), refused);
  mails.addRefused(mailOf(2), { ...refused, atMs: 3 });
  mails.addRefused(mailOf(3), { ...of(2), result: "refused", reason: "550" });
  const came = { from: "", to: "a@x.test", raw: new Uint8Array(1) };
  mails.addReceived(came, { ...of(4), result: "received", reason: "" });
  assert.deepEqual(
    mails.everything.map(({ key, attempts, result }) => [key, attempts, result]),
    [["in1", 1, "received"], ["x1", 2, "deferred"], ["x2", 1, "refused"], ["1", 1, "sent"]],
  );
  assert.deepEqual(mails.newestFirst.map(({ key }) => key), ["1"]);
  for (const { key } of mails.everything) assert.equal(mails.findByKey(key)!.key, key);
  for (const key of ["", "x", "x0", "in2", "y1", "01", "x1 ", "1e3"]) {
    assert.equal(mails.findByKey(key), undefined, key);
  }
  unfollow();
  mails.add(mailOf(1), OF);
  assert.equal(told, 5);
});
