/** Mail servers of Debian, set up as docs/mail.md says, that pipe what they receive to the relay. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import { mailText } from "../../support/inbound_mail.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import { accepted, MailKeyHolder } from "../../support/mail_caller.ts";
import { registerOrg, startMailRelay } from "../../support/mail_relay.ts";
import { partOrSkip } from "../../support/part.ts";
import { relayForNobody } from "../../support/relay_for_nobody.ts";

const NOBODY = 65534;
const isRoot = Deno.uid() === 0;
const PATIENCE_MS = 30_000;

interface World extends AsyncDisposable {
  folder: string;
  relayUrl: string;
  /** The line that hands a mail in, before the arguments of the server's own. */
  command: string;
  inbox: string;
  /** Waits until the inbox holds so many messages. */
  messages(count: number): Promise<Record<string, unknown>[]>;
  send(port: number, from: string, to: string[], raw: string): Promise<string>;
}

async function startWorld(): Promise<World> {
  const folder = await Deno.makeTempDir({ prefix: "relay-mta-" });
  const relay = await startMailRelay({ clockStartMs: "real" });
  const { orgId, apiKey } = await registerOrg(relay);
  const holder = new MailKeyHolder(relay.url, apiKey, orgId);
  const inbox = await holder.inbox({ local_part: "bot" });
  const secretFile = join(folder, "secret");
  const secret = Buffer.from(TEST_INBOUND_SECRET).toString("base64");
  await Deno.writeTextFile(secretFile, `whsec_${secret}\n`);
  const program = await relayForNobody(folder);
  await Deno.chmod(folder, 0o777);
  return {
    folder,
    relayUrl: relay.url,
    command: `${program} mail inject --defer --relay=${relay.url} --secret-file=${secretFile}`,
    inbox: inbox.address,
    async messages(count) {
      const path = `/v1/mail/inboxes/${inbox.id}/messages?order=asc`;
      const until = Date.now() + PATIENCE_MS;
      for (;;) {
        const { data } = accepted(await holder.ask("GET", path), 200);
        if (data.length >= count) return data;
        if (Date.now() > until) throw new Error(`only ${data.length} messages came`);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    async send(port, from, to, raw) {
      const transport = createTransport({
        host: "127.0.0.1",
        port,
        name: "client.else.test",
        ignoreTLS: true,
        socketTimeout: PATIENCE_MS,
      });
      const { response } = await transport.sendMail({ envelope: { from, to }, raw });
      transport.close();
      return response;
    },
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Lines of docs/mail.md between a fence and its end, with names put in. */
async function recipe(name: string, values: Record<string, string>): Promise<string> {
  const text = await Deno.readTextFile(new URL("../../../docs/mail.md", import.meta.url));
  const match = new RegExp(`\`\`\`${name}\n([^]*?)\`\`\``).exec(text);
  assert.ok(match !== null, `docs/mail.md has a recipe for ${name}`);
  return Object.entries(values).reduce((lines, [from, to]) => {
    assert.ok(lines.includes(from), from);
    return lines.replaceAll(from, to);
  }, match[1]!);
}

async function readyAt(port: number): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
    try {
      using connection = await Deno.connect({ hostname: "127.0.0.1", port });
      if (await connection.read(new Uint8Array(256)) !== null) return;
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("the mail server does not listen");
}

/**
 * A mail of each kind that a server pipes in its own way.
 * @param bounced what its log says where a recipient was refused for good
 */
async function handsOver(
  world: World,
  port: number,
  from: string,
  log: () => Promise<string>,
  bounced: RegExp,
): Promise<void> {
  const raw = mailText({ text: "first line\r\n.dot\r\nFrom here\r\n" });
  await world.send(port, from, [world.inbox, `${world.inbox.replace("@", "+tag@")}`], raw);
  await world.send(port, "", [world.inbox], mailText({ text: "a bounce\r\n" }));
  const [first, second, ...others] = await world.messages(2);
  assert.equal(others.length, 0);
  const bounce = [first, second].find((row) => (row!.envelope as { from: string }).from === "");
  const mail = [first, second].find((row) => row !== bounce)!;
  const { to, ...sender } = mail.envelope as { from: string; to: string[] };
  assert.deepEqual(sender, { from });
  // Each recipient is handed in by itself; to one inbox they are one message.
  assert.equal(to.length, 1);
  assert.match(to[0]!, /^bot(?:\+tag)?@agents\.test$/);
  assert.equal(mail.preview, "first line .dot From here");
  assert.ok(bounce !== undefined, "the empty sender stays empty");
  // Only the address without an inbox bounces, and none vanishes.
  const some = ["nobody@agents.test", world.inbox, "gone@agents.test"];
  await world.send(port, from, some, mailText({ text: "to some\r\n" }));
  assert.equal((await world.messages(3)).length, 3);
  for (const until = Date.now() + PATIENCE_MS;;) {
    const found = [...(await log()).matchAll(bounced)].map(([, address]) => address);
    if (found.length >= 2) {
      assert.deepEqual(found.toSorted(), ["gone@agents.test", "nobody@agents.test"]);
      break;
    }
    assert.ok(Date.now() < until, "two recipients are bounced");
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

partOrSkip("exim4", "exim4 pipes mail to relay mail inject", async (exim) => {
  await using world = await startWorld();
  const port = freePort();
  const config = join(world.folder, "exim.conf");
  const [routers, transport] = (await recipe("exim", {
    "/usr/local/bin/relay mail inject --defer": world.command,
    "agents.example.org": "agents.test",
    " --relay=https://relay.example.org --secret-file=/etc/relay/inbound.secret": "",
    "user = relay": "",
  })).split("# transports\n") as [string, string];
  await Deno.writeTextFile(
    config,
    `
primary_hostname = mx.agents.test
exim_user = ${isRoot ? NOBODY : Deno.uid()}
exim_group = ${isRoot ? NOBODY : Deno.gid()}
deliver_drop_privilege
keep_environment =
spool_directory = ${world.folder}/spool
log_file_path = ${world.folder}/%slog
pid_file_path = ${world.folder}/pid
local_interfaces = 127.0.0.1
tls_advertise_hosts =
host_lookup =
acl_smtp_rcpt = accept
begin acl
accept:
  accept
begin routers
${routers}
begin transports
${transport}
begin retry
* * F,2h,1m
`,
  );
  const args = [
    "-C",
    config,
    "-bdf",
    "-q1m",
    "-oX",
    String(port),
  ];
  const drop = ["--reuid", String(NOBODY), "--regid", String(NOBODY), "--clear-groups", exim];
  const server = new Deno.Command(isRoot ? "setpriv" : exim, {
    args: isRoot ? [...drop, ...args] : args,
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const said = new Response(server.stderr).text();
  try {
    const ended = server.status.then(async () => {
      throw new Error(`the server ended: ${await said}`);
    });
    await Promise.race([ended, readyAt(port)]);
    const log = () => Deno.readTextFile(join(world.folder, "mainlog"));
    const bounced = /\*\* (\S+@agents\.test)/g;
    await Promise.race([ended, handsOver(world, port, "-sender@else.test", log, bounced)]);
    ended.catch(() => {});
  } catch (error) {
    const log = await Deno.readTextFile(join(world.folder, "mainlog")).catch(() => "");
    throw new Error(`${error}\n${log}`);
  } finally {
    try {
      server.kill("SIGTERM");
    } catch {
      // It has ended.
    }
    await server.status;
    await said;
  }
});

partOrSkip("postfix", "postfix pipes mail to relay mail inject", async (_postconf, t) => {
  // Its master starts as root alone.
  await t.step({ name: "as root", ignore: !isRoot, fn: () => withPostfix() });
});

async function withPostfix(): Promise<void> {
  await using world = await startWorld();
  const port = freePort();
  const config = join(world.folder, "postfix");
  await Deno.mkdir(join(config, "data"), { recursive: true });
  await Deno.mkdir(join(config, "queue"));
  const main = await recipe("postfix-main", { "agents.example.org": "agents.test" });
  const master = await recipe("postfix-master", {
    "/usr/local/bin/relay mail inject --defer --relay=https://relay.example.org --secret-file=/etc/relay/inbound.secret":
      world.command,
    "user=relay": "user=nobody",
  });
  await Deno.writeTextFile(
    join(config, "main.cf"),
    `
compatibility_level = 3.6
queue_directory = ${config}/queue
data_directory = ${config}/data
maillog_file = ${config}/log
maillog_file_prefixes = ${config}
myhostname = mx.agents.test
mydestination =
local_recipient_maps =
inet_protocols = ipv4
smtpd_relay_restrictions = permit_auth_destination, reject
smtpd_peername_lookup = no
${main}`,
  );
  await Deno.writeTextFile(
    join(config, "master.cf"),
    `
127.0.0.1:${port} inet n - n - - smtpd
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
retry unix - - n - - error
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
cleanup unix n - n - 0 cleanup
bounce unix - - n - 0 bounce
error unix - - n - - error
${master}`,
  );
  await Deno.chmod(config, 0o755);
  const postfix = (command: string) =>
    new Deno.Command("/usr/sbin/postfix", { args: ["-c", config, command] }).output();
  const chown = new Deno.Command("chown", { args: ["postfix", join(config, "data")] });
  await chown.output();
  const started = await postfix("start");
  try {
    assert.ok(started.success, new TextDecoder().decode(started.stderr));
    await readyAt(port);
    // It takes no sender that begins with a hyphen.
    const log = () => Deno.readTextFile(join(config, "log"));
    const bounced = /to=<(\S+@agents\.test)>.* status=bounced/g;
    await handsOver(world, port, "sender@else.test", log, bounced);
  } catch (error) {
    const log = await Deno.readTextFile(join(config, "log")).catch(() => "");
    throw new Error(`${error}\n${log}`);
  } finally {
    await postfix("stop");
  }
}
