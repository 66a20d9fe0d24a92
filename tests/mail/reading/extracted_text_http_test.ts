/** What agents are given of replies and forwards: new words in every place that shows them. */
import assert from "node:assert/strict";
import type { MessageRow } from "../../../server/mail/records/message_record.ts";
import { startInboundRig } from "../../support/inbound_rig.ts";
import { copyMessages } from "../../support/message_rows.ts";

const HTML = { "Content-Type": "text/html; charset=utf-8", Subject: "Re: Day" };

Deno.test("messages: answers between quotes, forwards and letters with rules come whole", async () => {
  await using rig = await startInboundRig();
  const read = async (mail: Parameters<typeof rig.store>[0]) => {
    const id = await rig.store(mail);
    const { extracted_text, signature, preview } = await rig.get(`/v1/mail/messages/${id}`);
    return { extracted_text, signature, preview };
  };
  const inline = "> When?\r\nTuesday noon. \u{1f642}\r\n> Where?\r\nRoom two.\r\n-- \r\nBo\r\n";
  const headers = { Subject: "Re: Day", "Content-Type": "text/plain; charset=utf-8" };
  assert.deepEqual(await read({ headers, text: inline }), {
    extracted_text: "Tuesday noon. \u{1f642}\n\nRoom two.\n-- \nBo\n".trimEnd(),
    signature: 27,
    preview: "Tuesday noon. \u{1f642} Room two. -- Bo",
  });
  const forward = "---------- Forwarded message ---------\r\nFrom: Ann <ann@a.test>\r\n" +
    "Date: 3 May 2024\r\nTo: Bo\r\n\r\nThe door code is 4711.\r\n";
  for (const comment of ["", "FYI\r\n\r\n"]) {
    const text = comment + forward;
    const found = await read({ headers: { Subject: "Fwd: Door" }, text });
    assert.equal(found.extracted_text, text.replaceAll("\r\n", "\n"));
  }
  const letter = `Spring sale\r\n${"_".repeat(32)}\r\nEverything must go.\r\n`;
  assert.equal((await read({ text: letter })).extracted_text, letter.replaceAll("\r\n", "\n"));
  const marked = "<div>Yes.</div><div class=gmail_quote><div class=gmail_attr>x wrote</div>" +
    "<blockquote class=gmail_quote>Thursday?</blockquote><div>Noon.</div></div>";
  assert.equal((await read({ headers: HTML, text: marked })).extracted_text, "Yes.\n\nNoon.");
  const outlook =
    "<p>Yes.</p><hr><div id=divRplyFwdMsg><b>Fra:</b> A<br><b>Xyz:</b> B</div>Thursday?";
  assert.equal((await read({ headers: HTML, text: outlook })).extracted_text, "Yes.");
});

Deno.test("messages: rows from before signatures were looked for say that there is none", async () => {
  await using rig = await startInboundRig();
  const id = await rig.store({ text: "Yes.\r\n-- \r\nBo\r\n" });
  assert.equal((await rig.get(`/v1/mail/messages/${id}`)).signature, 5);
  const original = { orgId: rig.holder.orgId, inboxId: rig.inbox.id, id };
  const [older] = await copyMessages(rig.kv, original, 1, () => {
    return { signature: undefined } as unknown as Partial<MessageRow>;
  });
  assert.equal((await rig.get(`/v1/mail/messages/${older}`)).signature, null);
  const { data } = await rig.list();
  assert.deepEqual(data.map(({ signature }: { signature: unknown }) => signature), [null, 5]);
});
