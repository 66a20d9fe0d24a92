/** Programs of others send mail to a relay's SMTP server: what each sent is stored byte for byte. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createTransport } from "nodemailer";
import { createEximSender, type EximSender } from "../support/exim_sender.ts";
import { isLong } from "../support/long_test.ts";
import { type Part, partOrSkip } from "../support/part.ts";
import { startPostfixSender } from "../support/postfix_sender.ts";
import { pythonOrSkip } from "../support/python_program.ts";
import {
  newOrgAt,
  spawnSmtpRelay,
  storedRaws,
  TLS_ENV,
  until,
  withoutTrace,
} from "../support/smtp_world.ts";

const LIMIT_BYTES = 200_000;
const QUOTA_BYTES = 1_500_000;
const FROM = "sender@else.test";
const [ADA, BOB, FULL] = ["ada@agents.test", "bob@agents.test", "full@agents.test"];
const NOBODY = "nobody@agents.test";

/** Sends a mail of a file. @returns all that the program told, the server's replies among it */
type Send = (mail: { port: number; to: string[]; file: string; raw: Buffer }) => Promise<string>;

const randomBase64 = (sizeBytes: number) =>
  randomBytes(sizeBytes).toString("base64")
    .replaceAll(/.{76}/g, "$&\r\n");

/** Text of 8 bits, lines of dots and of the greatest length, and an attachment. */
function hardMail(sizeBytes: number): Buffer {
  return Buffer.from(
    [
      `From: <${FROM}>`,
      `To: <${ADA}>`,
      `Subject: ${crypto.randomUUID()}`,
      `Message-ID: <${crypto.randomUUID()}@else.test>`,
      "Date: Mon, 23 Nov 2026 10:00:00 +0000",
      "MIME-Version: 1.0",
      'Content-Type: multipart/mixed; boundary="cut"',
      "",
      "--cut",
      "Content-Type: text/plain; charset=utf-8",
      "Content-Transfer-Encoding: 8bit",
      "",
      "Grüße, 日本",
      ".",
      "..",
      ".dot",
      "From here",
      "x".repeat(990),
      "",
      "--cut",
      "Content-Type: application/octet-stream",
      "Content-Transfer-Encoding: base64",
      'Content-Disposition: attachment; filename="a.bin"',
      "",
      randomBase64(sizeBytes),
      "--cut--",
      "",
    ].join("\r\n"),
  );
}

/** As programs of a machine give it to a mail server, which sends CRLF. */
const endedInLf = (raw: Buffer) =>
  Buffer.from(raw.toString("latin1").replaceAll("\r\n", "\n"), "latin1");

interface Kind {
  /** One unknown recipient stops it. */
  refusesAll?: boolean;
  /** Of its session. */
  protocol?: string;
  /** What it puts behind a mail. */
  adds?: string;
}

/** What each program is tried with. */
async function tryWith(
  send: Send,
  { refusesAll = false, protocol = "ESMTPS", adds = "" }: Kind = {},
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "relay-smtp-clients-" });
  await using relay = await spawnSmtpRelay({
    env: TLS_ENV,
    limits: { mailInboundBytes: LIMIT_BYTES, mailStorageBytesPerTrial: QUOTA_BYTES },
  });
  const holder = await newOrgAt(relay);
  for (const local_part of ["ada", "bob"]) await holder.inbox({ local_part });
  const crowded = await newOrgAt(relay);
  await crowded.inbox({ local_part: "full" });
  let count = 0;
  const sends = async (to: string[], raw: Buffer) => {
    const file = join(folder, `${count++}.eml`);
    await Deno.writeFile(file, raw);
    return await send({ port: relay.smtpPort, to, file, raw });
  };
  try {
    const raw = hardMail(50_000);
    const to = [ADA, BOB];
    if (refusesAll) assert.match(await sends([NOBODY], hardMail(9)), /5\.1\.1 no such inbox here/);
    const told = await sends(refusesAll ? to : [ADA, NOBODY, BOB], raw);
    if (!refusesAll) assert.match(told, /5\.1\.1 no such inbox here/);
    assert.match(await sends([ADA], hardMail(LIMIT_BYTES)), /5\.3\.4|size/i);
    let last = "";
    for (let i = 0; i < 12 && !/4\.2\.2/.test(last); i++) {
      last = await sends([FULL], hardMail(130_000));
    }
    assert.match(last, /4\.2\.2 (?:the|an) inbox has no room now/);
    for (const address of to) {
      const [stored, ...others] = await storedRaws(holder, address);
      assert.equal(others.length, 0, address);
      assert.match(
        stored!,
        new RegExp(`\r\n\tby agents\\.test with ${protocol} id [0-9a-f]{16};\r\n`),
      );
      // Servers put a trace of their own before it.
      assert.ok(
        withoutTrace(stored!).endsWith(raw.toString("latin1") + adds),
        stored!.slice(0, 2_000),
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A program that has its answer when it ends. */
function oneProgram(part: Part, argumentsOf: (mail: Parameters<Send>[0]) => string[], kind?: Kind) {
  partOrSkip(part, `${part} sends mail to a relay`, async (program) => {
    await tryWith(async (mail) => {
      const { stdout, stderr } = await new Deno.Command("sh", {
        args: ["-c", 'exec "$0" "$@" < "$MAIL"', program, ...argumentsOf(mail)],
        env: { MAIL: mail.file },
      }).output();
      return [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
    }, kind);
  });
}

oneProgram("swaks", ({ port, to, file }) => [
  ...[
    "--server",
    "127.0.0.1",
    "--port",
    String(port),
    "--tls-optional",
    "--helo",
    "client.else.test",
  ],
  ...["--from", FROM, "--to", to.join(","), "--data", `@${file}`],
], { protocol: "ESMTPS?", adds: "\r\n" }); // TLS is a library that not every machine has

oneProgram("msmtp", ({ port, to }) => [
  ...["--host=127.0.0.1", `--port=${port}`, "--tls=on", "--tls-starttls=on", "--tls-certcheck=off"],
  ...[`--from=${FROM}`, "--", ...to],
], { refusesAll: true });

Deno.test("nodemailer sends mail to a relay over TLS", async () => {
  await tryWith(async ({ port, to, raw }) => {
    const transport = createTransport({
      ...{ host: "127.0.0.1", port, requireTLS: true, tls: { rejectUnauthorized: false } },
    });
    try {
      const told = await transport.sendMail({ envelope: { from: FROM, to }, raw });
      return [told.response, ...(told.rejectedErrors ?? []).map(String)].join("\n");
    } catch (error) {
      return String(error);
    } finally {
      transport.close();
    }
  });
});

const SMTPLIB = `
import smtplib, ssl, sys
port, file, to = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
context = ssl._create_unverified_context()
with smtplib.SMTP("127.0.0.1", port) as server:
    server.starttls(context=context)
    try:
        print(server.sendmail("${FROM}", to, open(file, "rb").read(), ["BODY=8BITMIME"]))
    except smtplib.SMTPException as error:
        print(repr(error))
`;

partOrSkip("python3", "Python's smtplib sends mail to a relay", async (python) => {
  await tryWith(async ({ port, to, file }) => {
    const args = ["-c", SMTPLIB, String(port), file, ...to];
    const { stdout, stderr } = await new Deno.Command(python, { args }).output();
    return [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  });
});

const AIOSMTPLIB = `
import asyncio, sys
import aiosmtplib
port, file, to = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
async def main():
    server = aiosmtplib.SMTP(hostname="127.0.0.1", port=port, start_tls=True, validate_certs=False)
    async with server:
        try:
            print(await server.sendmail("${FROM}", to, open(file, "rb").read()))
        except aiosmtplib.SMTPException as error:
            print(repr(error))
asyncio.run(main())
`;

await pythonOrSkip(
  fileURLToPath(new URL("smtp_client_requirements.txt", import.meta.url)),
  ["aiosmtplib"],
  "aiosmtplib sends mail to a relay",
  (run) =>
    tryWith(async ({ port, to, file }) => {
      const { stdout, stderr } = await run(["-c", AIOSMTPLIB, String(port), file, ...to]);
      return stdout + stderr;
    }),
);

partOrSkip("postfix", "postfix sends mail to a relay", async (_postconf, t) => {
  await t.step({
    name: "as root",
    ignore: Deno.uid() !== 0,
    async fn() {
      const senders = new Map<number, Awaited<ReturnType<typeof startPostfixSender>>>();
      try {
        await tryWith(async ({ port, to, raw }) => {
          const postfix = senders.get(port) ?? await startPostfixSender({ port });
          senders.set(port, postfix);
          const before = (await postfix.log()).length;
          await postfix.submit(FROM, to, endedInLf(raw));
          return await until(async () => {
            const log = (await postfix.log()).slice(before);
            const told = log.split("\n").filter((line) =>
              to.some((one) => line.includes(`to=<${one}>`))
            );
            return told.length >= to.length ? told.join("\n") : undefined;
          });
        });
      } finally {
        for (const postfix of senders.values()) await postfix[Symbol.asyncDispose]();
      }
    },
  });
});

partOrSkip("exim4", "exim4 sends mail to a relay", async (exim) => {
  const senders = new Map<number, EximSender>();
  try {
    await tryWith(async ({ port, to, raw }) => {
      const sender = senders.get(port) ?? await createEximSender({ exim, port });
      senders.set(port, sender);
      return await sender.submit(FROM, to, endedInLf(raw));
    });
  } finally {
    for (const sender of senders.values()) await sender[Symbol.asyncDispose]();
  }
});

partOrSkip(
  "postfix",
  "postfix's smtp-source brings many mails over 100 connections: each is stored once",
  async () => {
    await using relay = await spawnSmtpRelay();
    const holder = await newOrgAt(relay);
    const mails = isLong ? 500 : 100;
    // At one inbox no more than 64 changes wait at a time, and this program takes no 451.
    await Promise.all([ADA, BOB].map(async (address) => {
      await holder.inbox({ local_part: address.slice(0, 3) });
      const { success, stderr } = await new Deno.Command("/usr/sbin/smtp-source", {
        args: [
          ...["-4", "-s", "50", "-m", String(mails), "-l", "4000", "-f", FROM, "-t", address],
          `127.0.0.1:${relay.smtpPort}`,
        ],
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
    }));
    for (const address of [ADA, BOB]) {
      const raws = await storedRaws(holder, address);
      const ids = raws.map((raw) => /^Message-I[dD]: (.*)\r$/m.exec(raw)![1]);
      assert.deepEqual([ids.length, new Set(ids).size], [mails, mails]);
    }
  },
);
