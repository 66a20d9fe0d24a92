/** Sends of 10 MiB for a relay, from a process of its own: "begin" and "end" on standard input. */
import { answerLines } from "./child.ts";

export interface MailSendFloodArgument {
  port: number;
  inboxId: string;
  apiKey: string;
}

const { port, inboxId, apiKey }: MailSendFloodArgument = JSON.parse(Deno.args[0]!);
const LANES = 2;
/** In base64 within JSON it makes a body of just under 10 MiB. */
const FILE_BYTES = 7.4 * 2 ** 20;

const content = "A".repeat(Math.floor(FILE_BYTES / 3) * 4);
let isOn = false;
let accepted = 0;
let running: Promise<unknown> = Promise.resolve();

async function lane(): Promise<void> {
  while (isOn) {
    const body = JSON.stringify({
      to: "reader@example.org",
      subject: crypto.randomUUID(),
      text: "See the file.",
      attachments: [{ filename: "a.bin", content_type: "application/octet-stream", content }],
    });
    const answer = await fetch(
      `http://127.0.0.1:${port}/v1/mail/inboxes/${inboxId}/messages/send`,
      { method: "POST", headers: { authorization: `Bearer ${apiKey}` }, body },
    );
    if (answer.status === 202) accepted++;
    else if (answer.status !== 503) throw new Error(await answer.text());
    await answer.body?.cancel();
  }
}

console.log("{}");
await answerLines(async (line) => {
  if (line === "begin") {
    isOn = true;
    running = Promise.all(Array.from({ length: LANES }, lane));
    return 0;
  }
  isOn = false;
  await running;
  const told = accepted;
  accepted = 0;
  return told;
});
