/** Large and hostile mail for a relay, from a process of its own: "begin" and "end" on standard input. */
import { HOSTILE_MAILS } from "../../tests/mail/reading/mime/hostile_mails.ts";
import { inboundRequest } from "../mail_box.ts";
import { answerLines } from "./child.ts";

export interface MailFloodArgument {
  port: number;
  address: string;
}

const { port, address }: MailFloodArgument = JSON.parse(Deno.args[0]!);
const LANES = 2;
const LARGE_BYTES = 25 * 2 ** 20;

// Large ones among them; each is made when its turn comes.
const mails = Object.values(HOSTILE_MAILS);

let isOn = false;
let taken = 0;
let running: Promise<unknown> = Promise.resolve();

/** One connection after the other; a mail in its turn, made unlike all before by a header. */
async function lane(first: number): Promise<void> {
  for (let i = first; isOn; i += LANES) {
    const mail = mails[i % mails.length]!().subarray(0, LARGE_BYTES - 100);
    const head = new TextEncoder().encode(`X-Bench: ${crypto.randomUUID()}\r\n`);
    const raw = new Uint8Array(head.length + mail.length);
    raw.set(head);
    raw.set(mail, head.length);
    using socket = await Deno.connect({ hostname: "127.0.0.1", port });
    try {
      const bytes = inboundRequest(address, raw);
      let sent = 0;
      while (sent < bytes.length && isOn) sent += await socket.write(bytes.subarray(sent));
      if (sent < bytes.length) return; // the relay would wait for the rest of it, and for long
      const answer = new Uint8Array(65_536);
      const length = await socket.read(answer);
      if (new TextDecoder().decode(answer.subarray(0, length ?? 0)).startsWith("HTTP/1.1 200")) {
        taken++;
      }
    } catch {
      // Cut off: the next one.
    }
  }
}

console.log("{}");
await answerLines(async (line) => {
  if (line === "begin") {
    isOn = true;
    running = Promise.all(Array.from({ length: LANES }, (_, i) => lane(i)));
    return 0;
  }
  isOn = false;
  await running;
  const told = taken;
  taken = 0;
  return told;
});
