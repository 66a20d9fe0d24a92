import assert from "node:assert/strict";
import { mailToCompose } from "../../../tests/support/outgoing_mail.ts";
import { DEFAULT_LIMITS } from "../../base/config/limits.ts";
import { composeMail } from "../composing/compose_mail.ts";
import { previewDraft } from "../composing/reducing/preview_draft.ts";
import { toEnd } from "../../base/slices/sliced.ts";
import { reduceHtml } from "../composing/reducing/reduce_html.ts";
import { ComposeWorker } from "./compose_worker.ts";
import { readSendBody } from "../composing/requests/read_send_body.ts";

const context = { limits: DEFAULT_LIMITS, nowMs: Date.UTC(2026, 10, 22, 12) };
const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

/** Work whose worker tells what it was asked for. */
function workWithCount() {
  const asked: string[] = [];
  const work = new ComposeWorker({
    readRequest(kind, body, context, wantsFingerprint, owner) {
      assert.equal(owner, "org");
      asked.push("read");
      return Promise.resolve(toEnd(readSendBody(kind, body, context, wantsFingerprint)));
    },
    compose(mail, owner) {
      assert.equal(owner, "org");
      asked.push("compose");
      return composeMail(mail);
    },
    preview(section, owner) {
      assert.equal(owner, "org");
      asked.push("preview");
      return Promise.resolve(toEnd(previewDraft(section)));
    },
    reduce(html, pictures, owner) {
      assert.equal(owner, "org");
      asked.push("reduce");
      return Promise.resolve(toEnd(reduceHtml(html, pictures)));
    },
  });
  return { work, asked };
}

Deno.test("ComposeWorker gives the worker everything, however small it is", async () => {
  const { work, asked } = workWithCount();
  const to = "a@example.org";
  const { request, fingerprint } = await work.read(
    "send",
    encode({ to, text: "x" }),
    context,
    true,
    "org",
  );
  assert.equal(request.text, "x");
  assert.match(fingerprint!, /^[\w-]{43}$/);
  const mail = mailToCompose({ text: null, html: "<p>x" });
  assert.deepEqual(await work.compose(mail, "org"), await composeMail(mail));
  const { extracted } = await work.preview(
    encode({ text: null, html: "<p>x", headers: [] }),
    "org",
  );
  assert.equal(extracted, "x");
  assert.equal((await work.reduce("<p>x", [], "org")).html, "<p>x</p>");
  assert.deepEqual(asked, ["read", "compose", "preview", "reduce"]);
});

Deno.test("ComposeWorker.read() throws what is refused", async () => {
  const { work } = workWithCount();
  const nobody = encode({ to: "nobody", text: "x" });
  await assert.rejects(work.read("send", nobody, context, true, "org"), {
    name: "RelayError",
    code: "invalid_email",
    message: /^to must be one address/,
  });
});
