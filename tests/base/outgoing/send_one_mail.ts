/**
 * Hands one mail to a next hop and prints the outcome: a process with few permissions. Takes its host,
 * its port and, for one that speaks TLS, a file with an authority.
 */
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";

const [host, port, caFile] = Deno.args;
const mailer = createSmtpMailer({
  smtp: { host: host!, port: Number(port), secure: caFile !== undefined },
  ehloName: "relay.example.org",
  ...(caFile === undefined ? {} : { caPem: await Deno.readTextFile(caFile) }),
});
const outcome = await mailer.send({
  from: "relay@example.org",
  to: "reader@example.org",
  content: new TextEncoder().encode("Subject: greeting\r\n\r\nhello\r\n"),
}, { beforeContent: () => Promise.resolve(), signal: new AbortController().signal });
await mailer.close();
console.log(JSON.stringify(outcome));
