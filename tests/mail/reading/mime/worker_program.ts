/** Reads a mail in a worker, as a process that may do only what its flags say. */
import { MailWorker, startMailWorker } from "../../../../server/mail/worker/mail_worker.ts";
import { readTexts } from "../../../support/read_texts.ts";

const losses: string[] = [];
const worker = new MailWorker({
  start: startMailWorker,
  onLoss: (failure) => losses.push(String(failure)),
});
const html = "Subject: s\r\nContent-Type: text/html; charset=koi8-r\r\n\r\n<p>\xf0</p>";
const raw = Uint8Array.from(html, (character) => character.charCodeAt(0));
const limits = { parts: 200, depth: 50 };
const read = await worker.read(raw, { envelopeFrom: "", limits }, "org");
console.log(JSON.stringify({ text: readTexts(read).text, losses }));
worker.close();
