import assert from "node:assert/strict";
import { mailToCompose } from "../../../tests/support/outgoing_mail.ts";
import { DEFAULT_LIMITS } from "../../limits.ts";
import { previewDraft } from "../drafts/preview.ts";
import { composeMail } from "../composing/compose_mail.ts";
import { OutgoingWork } from "./outgoing_work.ts";
import { readOutgoing } from "./read_outgoing.ts";

const context = { limits: DEFAULT_LIMITS, nowMs: Date.UTC(2026, 10, 22, 12) };
const KIB = 1024;

/** Work whose worker tells what it was asked for. */
function workWithCount() {
  const asked: string[] = [];
  const work = new OutgoingWork({
    readRequest(...request) {
      asked.push("read");
      return Promise.resolve(readOutgoing(...request));
    },
    compose(mail) {
      asked.push("compose");
      return composeMail(mail);
    },
    preview(section) {
      asked.push("preview");
      return Promise.resolve(previewDraft(section));
    },
  });
  return { work, asked };
}

/** A request to send of so many bytes. */
function bodyOf(sizeBytes: number, to = "a@example.org"): Uint8Array {
  const empty = JSON.stringify({ to, text: "" });
  return new TextEncoder().encode(
    JSON.stringify({ to, text: "x".repeat(sizeBytes - empty.length) }),
  );
}

Deno.test("OutgoingWork.read() gives the worker what is over 64 KiB", async () => {
  const { work, asked } = workWithCount();
  const small = await work.read("send", bodyOf(64 * KIB), context, false);
  assert.deepEqual(asked, []);
  assert.equal(small.fingerprint, null);
  const large = await work.read("send", bodyOf(64 * KIB + 1), context, true);
  assert.deepEqual(asked, ["read"]);
  assert.equal(large.request.text!.length, small.request.text!.length + 1);
  assert.match(large.fingerprint!, /^[\w-]{43}$/);
});

Deno.test("OutgoingWork.read() throws what is refused, wherever it was read", async () => {
  const { work, asked } = workWithCount();
  for (const size of [1 * KIB, 65 * KIB]) {
    await assert.rejects(work.read("send", bodyOf(size, "nobody"), context, true), {
      name: "RelayError",
      code: "invalid_email",
      message: /^to must be one address/,
    });
  }
  assert.deepEqual(asked, ["read"]);
});

Deno.test("OutgoingWork.compose() gives the worker what is over 64 KiB", async () => {
  const { work, asked } = workWithCount();
  const content = new Uint8Array(32 * KIB);
  const attachment = { filename: "a", contentType: "image/png", contentId: null, content };
  const sized = (text: string) => mailToCompose({ text, attachments: [attachment] });
  const small = sized("x".repeat(32 * KIB));
  assert.deepEqual(await work.compose(small), await composeMail(small));
  assert.deepEqual(asked, []);
  await work.compose(sized("x".repeat(32 * KIB + 1)));
  await work.compose(mailToCompose({ text: null, html: "x".repeat(64 * KIB + 1) }));
  assert.deepEqual(asked, ["compose", "compose"]);
});
