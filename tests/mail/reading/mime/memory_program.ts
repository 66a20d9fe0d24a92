/** Reads a hostile mail again and again, and prints the most memory that the process had, in MiB. */
import { MailWorker, startMailWorker } from "../../../../server/mail/worker/mail_worker.ts";
import { HOSTILE_MAILS } from "./hostile_mails.ts";

const raw = HOSTILE_MAILS[Deno.args[0]!]!();
const worker = new MailWorker({
  start: startMailWorker,
  onLoss: (failure) => console.error(failure),
});
let most = 0;
for (let i = 0; i < 10; i++) {
  await worker.read(raw, { envelopeFrom: "", limits: { parts: 200, depth: 50 } }, "org");
  most = Math.max(most, Deno.memoryUsage().rss);
}
worker.close();
console.log(Math.round(most / 1024 / 1024));
