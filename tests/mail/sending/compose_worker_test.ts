import assert from "node:assert/strict";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";
import { composeMail } from "../../../server/mail/composing/compose_mail.ts";
import { MailWorker, startMailWorker } from "../../../server/mail/worker/mail_worker.ts";
import { toEnd } from "../../../server/base/slices/sliced.ts";
import { readSendBody } from "../../../server/mail/composing/requests/read_send_body.ts";
import { dkimKey, mailToCompose } from "../../support/outgoing_mail.ts";

const context = { limits: DEFAULT_LIMITS, nowMs: Date.UTC(2026, 10, 22, 12) };
const encoder = new TextEncoder();

/** A worker without permissions, and one for runtimes without workers: on the main thread. */
const STARTS = { "in the worker": startMailWorker, "on the main thread": null };

for (const [where, start] of Object.entries(STARTS)) {
  Deno.test(`MailWorker.compose() gives the same bytes ${where}`, async () => {
    const worker = new MailWorker({ start, onLoss: (failure) => assert.fail(String(failure)) });
    try {
      const content = new Uint8Array(200_000).fill(7);
      const mail = mailToCompose({
        subject: "Grüße",
        text: null,
        html: "<p>ü",
        attachments: [{ filename: "ü.bin", contentType: "image/png", contentId: "a@b", content }],
        dkim: dkimKey(),
      });
      assert.deepEqual(await worker.compose(mail, "org"), await composeMail(mail));
      assert.equal(content.length, 200_000, "the caller keeps its bytes");
    } finally {
      worker.close();
    }
  });

  Deno.test(`MailWorker.readRequest() gives requests and refusals ${where}`, async () => {
    const worker = new MailWorker({ start, onLoss: (failure) => assert.fail(String(failure)) });
    try {
      const attachment = { filename: "a", content_type: "image/png", content: "aGk=" };
      const bodies = [
        '{"to":"a@jõgeva.ee","text":"x"}',
        JSON.stringify({ to: "a@example.org", text: "x", attachments: [attachment, attachment] }),
      ].map((text) => encoder.encode(text));
      for (const body of bodies) {
        const read = worker.readRequest("send", body, context, true, "org");
        const outcome = toEnd(readSendBody("send", body, context, true));
        if ("request" in outcome) assert.deepEqual(await read, outcome);
        else await assert.rejects(read, { name: "RelayError", ...outcome.refused });
      }
      assert.equal(bodies.length, 2);
      await assert.rejects(
        worker.readRequest("send", encoder.encode('{"to":"a","text":"x"}'), context, true, "org"),
        { name: "RelayError", code: "invalid_email", message: /^to must be one address/ },
      );
      await assert.rejects(
        worker.readRequest("send", encoder.encode("["), context, true, "org"),
        { name: "RelayError", code: "invalid_json" },
      );
      const changes = encoder.encode('{"attachments":[{"id":"att_0"}]}');
      assert.deepEqual(await worker.readRequest("draft_changes", changes, context, false, "org"), {
        request: { attachments: [{ id: "att_0" }] },
        fingerprint: null,
      });
    } finally {
      worker.close();
    }
  });
}

Deno.test("MailWorker.compose() tells of what cannot be composed, and nothing of the mail", async () => {
  const losses: unknown[] = [];
  const worker = new MailWorker({
    start: startMailWorker,
    onLoss: (failure) => losses.push(failure),
  });
  try {
    const broken = mailToCompose({ to: [{ name: null, address: "secret\r\nBcc: x@y" }] });
    await assert.rejects(worker.compose(broken, "org"), (error) => !/secret/.test(String(error)));
    assert.equal(losses.length, 1);
    assert.doesNotMatch(String(losses[0]), /secret/);
    assert.deepEqual(
      await worker.compose(mailToCompose(), "org"),
      await composeMail(mailToCompose()),
    );
  } finally {
    worker.close();
  }
  await assert.rejects(worker.compose(mailToCompose(), "org"), { code: "unavailable" });
});
