/** exim4 as the next hop: mail out by STARTTLS, its answer and its real bounces back by the gateway. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { parseConfig } from "../../../server/base/config/config.ts";
import type { Mailer } from "../../../server/base/mailer/mailer.ts";
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";
import { mailText } from "../../support/inbound_mail.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { accepted, assertMailRefused, newOrg } from "../../support/mail_caller.ts";
import { PROGRAM } from "../../support/mail_links.ts";
import { askMail, startMailRelay } from "../../support/mail_relay.ts";
import { dkimKey } from "../../support/outgoing_mail.ts";
import { delay } from "../../support/pace.ts";
import { partOrSkip, pathOfProgram } from "../../support/part.ts";
import { relayForNobody } from "../../support/relay_for_nobody.ts";
import { deliver, listMessages, readMessage, send } from "../../support/sending_org.ts";

const NOBODY = 65534;
const isRoot = Deno.uid() === 0;
const PATIENCE_MS = 30_000;
const SERVED = "elsewhere.test";

async function until<T>(find: () => Promise<T | undefined>): Promise<T> {
  for (const endMs = Date.now() + PATIENCE_MS; Date.now() < endMs;) {
    const found = await find();
    if (found !== undefined) return found;
    await delay(200);
  }
  throw new Error("it did not come to that in time");
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** A next hop that can be set later; what it takes before that is kept. */
function switchedMailer() {
  const taken: string[] = [];
  let current: Mailer | null = null;
  const mailer: Mailer = {
    async send(mail, handover) {
      if (current !== null) return await current.send(mail, handover);
      await handover.beforeContent();
      taken.push(Buffer.from(mail.content).toString());
      return { result: "sent", reason: "kept", reply: null };
    },
    async close() {
      await current?.close();
    },
  };
  return { mailer, taken, goTo: (next: Mailer) => void (current = next) };
}

interface Exim extends AsyncDisposable {
  port: number;
  log(): Promise<string>;
}

/** It has users at SERVED, of whom "nobody" is none, and pipes mail of agents.test to the relay. */
async function startExim(
  exim: string,
  { folder, command, friend }: { folder: string; command: string; friend: string },
): Promise<Exim> {
  const port = freePort();
  for (const name of ["server", "server_key"]) {
    const from = fileURLToPath(
      new URL(`../../base/outgoing/certificates/${name}.pem`, import.meta.url),
    );
    await Deno.copyFile(from, join(folder, `${name}.pem`));
    await Deno.chmod(join(folder, `${name}.pem`), 0o644);
  }
  const config = join(folder, "exim.conf");
  await Deno.writeTextFile(
    config,
    `
primary_hostname = mx.${SERVED}
exim_path = ${await pathOfProgram(exim)}
exim_user = ${isRoot ? NOBODY : Deno.uid()}
exim_group = ${isRoot ? NOBODY : Deno.gid()}
deliver_drop_privilege
keep_environment =
spool_directory = ${folder}/spool
log_file_path = ${folder}/%slog
pid_file_path = ${folder}/pid
local_interfaces = 127.0.0.1
tls_advertise_hosts = *
tls_certificate = ${folder}/server.pem
tls_privatekey = ${folder}/server_key.pem
host_lookup =
acl_smtp_rcpt = accept
begin acl
accept:
  accept
begin routers
unknown_user:
  driver = redirect
  domains = ${SERVED}
  local_parts = nobody
  allow_fail
  data = :fail: no such user here
known_user:
  driver = redirect
  domains = ${SERVED}
  data = ${friend}
relay_inboxes:
  driver = accept
  domains = agents.test
  transport = relay_pipe
begin transports
relay_pipe:
  driver = pipe
  command = /bin/sh -c 'exec ${command} --from="\\$SENDER" -- "\\$@"' relay $pipe_addresses
  use_crlf
  message_prefix =
  message_suffix =
  temp_errors = 75
  log_output
  return_fail_output
begin retry
* * F,2h,1m
`,
  );
  const args = ["-C", config, "-bdf", "-q1m", "-oX", String(port)];
  const drop = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", exim];
  const server = new Deno.Command(isRoot ? "setpriv" : exim, {
    args: isRoot ? [...drop, ...args] : args,
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const said = new Response(server.stderr).text();
  const stop = async () => {
    try {
      server.kill("SIGTERM");
    } catch {
      // It has ended.
    }
    await server.status;
    return await said;
  };
  try {
    await until(async () => {
      try {
        using connection = await Deno.connect({ hostname: "127.0.0.1", port });
        return await connection.read(new Uint8Array(256)) ?? undefined;
      } catch {
        return undefined; // not yet
      }
    });
  } catch (error) {
    throw new Error(`${error}: ${await stop()}`);
  }
  return {
    port,
    log: () => Deno.readTextFile(join(folder, "mainlog")).catch(() => ""),
    [Symbol.asyncDispose]: async () => void await stop(),
  };
}

partOrSkip("exim4", "exim4 takes mail, brings back its answer and its bounces", async (program) => {
  const folder = await Deno.makeTempDir({ prefix: "relay-exim-" });
  const hop = switchedMailer();
  const mail = {
    ...parseConfig({ RELAY_MAIL_DEV: "true" }).mail,
    inboundSecret: TEST_INBOUND_SECRET,
    dkim: dkimKey(),
  };
  try {
    await using relay = await startMailRelay({
      clockStartMs: "real",
      config: { mail },
      deps: { mailer: hop.mailer },
    });
    const owner = await newOrg(relay);
    const email = "owner@example.org";
    accepted(await owner.ask("POST", "/v1/mail/org/claim", { body: { email } }), 202);
    await deliver(relay);
    const text = hop.taken[0]!.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    const link = /\/v1\/mail\/org\/claim\/confirm\?token=[A-Za-z0-9._-]+/.exec(text)![0];
    accepted(await askMail(relay.url, "GET", link, { headers: PROGRAM }), 200);
    const inbox = await owner.inbox({ local_part: "ada" });
    const secretFile = join(folder, "secret");
    await Deno.writeTextFile(
      secretFile,
      `whsec_${Buffer.from(TEST_INBOUND_SECRET).toString("base64")}\n`,
    );
    const relayProgram = await relayForNobody(folder);
    await Deno.chmod(folder, 0o777);
    await using exim = await startExim(program, {
      folder,
      friend: inbox.address,
      command:
        `${relayProgram} mail inject --defer --relay=${relay.url} --secret-file=${secretFile}`,
    });
    const smtp = { host: "127.0.0.1", port: exim.port, secure: false };
    const mailer = createSmtpMailer({ smtp, ehloName: "agents.test" });
    hop.goTo(mailer);
    try {
      // A redirected copy comes back: byte for byte behind what the server adds, its signature whole.
      const subject = `${"long subject ".repeat(70)}end`;
      const body = { to: `friend@${SERVED}`, subject, text: "one\rtwo\n.three\nFrom here\n" };
      const sent = accepted(await send(owner, inbox, body), 202);
      await deliver(relay);
      const [told] = (await readMessage(owner, sent.id)).recipients;
      assert.deepEqual([told.status, told.smtp_code], ["sent", 250], `${await exim.log()}`);
      assert.match(await exim.log(), /<= bounce\+[^\n]* P=esmtps X=TLS1\.[23]/);
      const copy = await until(async () =>
        (await listMessages(owner, inbox)).find(({ direction }) => direction === "inbound")
      );
      const raw = async (id: string): Promise<string> =>
        accepted(await owner.ask("GET", `/v1/mail/messages/${id}/raw`), 200);
      const ours = await raw(sent.id);
      assert.match(ours, /^DKIM-Signature: /);
      assert.ok((await raw(copy.id)).endsWith(ours), "what was signed came through unchanged");
      assert.match(copy.envelope.from, /^bounce\+/);

      // A reader's answer joins the thread.
      const transport = createTransport({ ...smtp, tls: { rejectUnauthorized: false } });
      const answer = mailText({
        headers: {
          From: `friend@${SERVED}`,
          Subject: "An answer",
          "In-Reply-To": `<${sent.rfc_message_id}>`,
        },
      });
      const envelope = { from: `friend@${SERVED}`, to: [inbox.address] };
      await transport.sendMail({ envelope, raw: answer });
      transport.close();
      const arrived = await until(async () =>
        (await listMessages(owner, inbox)).find((row) => row.subject === "An answer")
      );
      assert.equal(arrived.thread_id, sent.thread_id);

      // Taken first and refused later: the server's own report, to the address of bounces.
      const lost = accepted(await send(owner, inbox, { to: `nobody@${SERVED}` }), 202);
      await deliver(relay);
      const bounced = await until(async () => {
        const message = await readMessage(owner, lost.id);
        return message.status === "bounced" ? message : undefined;
      });
      const [recipient] = bounced.recipients;
      assert.deepEqual([recipient.reason, recipient.attempts], ["refused", 1]);
      assert.match(recipient.enhanced_code, /^5\./);
      const listed = await listMessages(owner, inbox);
      assert.equal(listed.filter(({ automated }) => automated === "bounce").length, 0);
      const again = await send(owner, inbox, { to: `nobody@${SERVED}` });
      const isHard = /^5\.(1\.|2\.1$)/.test(recipient.enhanced_code);
      if (isHard) assertMailRefused(again, "recipient_suppressed");
      else accepted(again, 202);
    } catch (error) {
      throw new Error(`${error}\n${await exim.log()}`, { cause: error });
    } finally {
      await mailer.close();
    }
  } finally {
    // Deliveries that the server has begun end after it, and write until then.
    await until(async () => {
      const isLeft = await Deno.remove(folder, { recursive: true }).then(() => false, () => true);
      return isLeft ? undefined : true;
    });
  }
});
