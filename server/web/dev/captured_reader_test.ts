import assert from "node:assert/strict";
import { HOSTILE_HTML } from "../../../tests/support/hostile_html.ts";
import { leastMainLoopGap, mainLoopGap } from "../../../tests/support/main_loop_gap.ts";
import { CapturedReader } from "./captured_reader.ts";
import { readMail } from "./read_mail.ts";

const MAX_GAP_MS = 50;
const mail = (type: string, text: string) =>
  new TextEncoder().encode(`Subject: s\r\nContent-Type: ${type}\r\n\r\n${text}`);

Deno.test("CapturedReader reads what readMail() does, in a worker or not, in any order", async () => {
  const reader = new CapturedReader();
  const mails = [
    mail("text/html", "<p>your code is 123456"),
    mail("text/plain", "short"),
    mail("text/plain", "long ".repeat(10_000)),
  ];
  assert.deepEqual(
    await Promise.all(mails.map((raw) => reader.read(raw))),
    await Promise.all(mails.map((raw) => readMail(raw))),
  );
  reader.close();
  assert.deepEqual([(await reader.read(mails[0]!)).isCut, (await reader.read(mails[1]!)).text], [
    true,
    "short",
  ]);
});

Deno.test("CapturedReader does not hold the main loop for dear HTML", async () => {
  const reader = new CapturedReader();
  const lines = HOSTILE_HTML["lingering formatting with many classes"]!(150_000).match(/.{1,70}/g)!;
  const raw = new TextEncoder().encode(
    "Content-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n" +
      lines.map((line) => line.replaceAll("=", "=3D")).join("=\r\n"),
  );
  await reader.read(mail("text/html", "<p>warm"));
  const gapMs = await leastMainLoopGap(MAX_GAP_MS, async () => {
    const result = await reader.read(raw);
    assert.deepEqual([result.hasHtml, result.text.slice(0, 1)], [true, "x"]);
  });
  assert.ok(gapMs < MAX_GAP_MS, `the main loop was held for ${gapMs} ms`);
  const unread = reader.read(raw);
  reader.close();
  assert.equal((await unread).isCut, true);
  const onMainThread = await mainLoopGap(() => readMail(raw));
  assert.ok(onMainThread.gapMs > gapMs);
});
