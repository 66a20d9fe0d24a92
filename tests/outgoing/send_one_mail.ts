/** Hands one mail to localhost, at the port given, and prints the outcome: a process with few permissions. */
import { createSmtpMailer } from "../../server/outgoing/smtp_mailer.ts";

const mailer = createSmtpMailer({
  smtp: { host: "localhost", port: Number(Deno.args[0]), secure: false },
  ehloName: "relay.example.org",
});
const outcome = await mailer.send({
  from: "relay@example.org",
  to: "reader@example.org",
  content: new TextEncoder().encode("Subject: greeting\r\n\r\nhello\r\n"),
}, { beforeContent: () => Promise.resolve(), signal: new AbortController().signal });
await mailer.close();
console.log(JSON.stringify(outcome));
