import assert from "node:assert/strict";
import { composeMail } from "../../server/mail/composing/compose_mail.ts";
import { readOutgoing } from "../../server/mail/sending/read_outgoing.ts";
import { OUTGOING_LIMITS } from "../support/outgoing_limits.ts";
import { dkimKey, mailToCompose } from "../support/outgoing_mail.ts";
import type { Job } from "./compose_worker_program.ts";

/** Runs a job in a worker that may do nothing but compute. */
async function inWorker(job: Job): Promise<unknown> {
  const options = { type: "module", deno: { permissions: "none" } };
  const worker = new Worker(
    new URL("compose_worker_program.ts", import.meta.url),
    options as WorkerOptions,
  );
  try {
    return await new Promise((resolve, reject) => {
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      worker.onmessage = ({ data }) => data === "ready" ? worker.postMessage(job) : resolve(data);
    });
  } finally {
    worker.terminate();
  }
}

Deno.test("composeMail() needs no permission, and gives the same bytes in a worker", async () => {
  const content = new Uint8Array(200_000).fill(7);
  const mail = mailToCompose({
    subject: "Grüße",
    text: null,
    html: "<p>ü",
    attachments: [{ filename: "ü.bin", contentType: "image/png", contentId: "a@b", content }],
    dkim: dkimKey(),
  });
  assert.deepEqual(await inWorker({ mail }), await composeMail(mail));
});

Deno.test("readOutgoing() needs no permission, and reads the same in a worker", async () => {
  const nowMs = Date.UTC(2026, 10, 22, 12);
  const context = { limits: OUTGOING_LIMITS, nowMs };
  const bodies = ['{"to":"a@jõgeva.ee","text":"x"}', '{"to":"a","text":"x"}', "["];
  assert.equal(bodies.length, 3);
  for (const text of bodies) {
    const body = new TextEncoder().encode(text);
    assert.deepEqual(
      await inWorker({ kind: "send", body, nowMs }),
      readOutgoing("send", body, context, true),
    );
  }
});
