/** kill -9 after DATA, and a sender that tries again: each mail is stored once, whole. */
import assert from "node:assert/strict";
import { HALT_STEPS, type HaltStep } from "../support/halt_steps.ts";
import { mailText } from "../support/inbound_mail.ts";
import { isLong } from "../support/long_test.ts";
import type { MailKeyHolder } from "../support/mail_caller.ts";
import { delay } from "../support/pace.ts";
import { partOrSkip } from "../support/part.ts";
import { startPostfixSender } from "../support/postfix_sender.ts";
import { sendBySmtp } from "../support/smtp_client.ts";
import {
  newOrgAt,
  spawnSmtpRelay,
  storedRaws,
  until,
  withoutTrace,
} from "../support/smtp_world.ts";

const ADA = "ada@agents.test";
/** Those of HTTP's answers, and of a store's first mail, are none of SMTP. */
const ALL_STEPS = HALT_STEPS.filter((step) =>
  !["known to be new", "mark filled", "mark named"].includes(step)
);
const STEPS: readonly HaltStep[] = isLong
  ? ALL_STEPS
  : ["bytes written", "commit formed", "committed", "before answer"];
const MAILS = isLong ? 60 : 20;

const halting = (step: HaltStep, mail: number) => ({
  entry: "relay_halting.ts",
  stopAt: { pattern: new RegExp(`^halted at: ${step}$`, "m"), signal: "SIGKILL" as const },
  env: { TEST_HALT_AT: step, TEST_HALT_MAIL: String(mail) },
});

async function withFolder(test: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-smtp-kills-" });
  try {
    await test(dataDir);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

Deno.test("kill -9 at each step after DATA: no answer was given, and what is sent again is stored once", async () => {
  await withFolder(async (dataDir) => {
    let holder: MailKeyHolder | undefined;
    const sent: string[] = [];
    for (const step of STEPS) {
      const { env, ...options } = halting(step, sent.length === 0 ? 1 : 2);
      await using relay = await spawnSmtpRelay({
        ...options,
        env: { ...env, RELAY_DATA_DIR: dataDir },
      });
      if (holder === undefined) {
        holder = await newOrgAt(relay);
        await holder.inbox({ local_part: "ada" });
      } else await repeat(relay);
      const raw = mailText({ headers: { Subject: step }, text: `${step}.\r\n`.repeat(200) });
      sent.push(raw);
      assert.equal(await sendBySmtp(relay.smtpPort, { to: [ADA], raw }), "", step);
      assert.equal((await relay.status).signal, "SIGKILL");
    }
    await using relay = await spawnSmtpRelay({ env: { RELAY_DATA_DIR: dataDir } });
    await repeat(relay);

    async function repeat(relay: { url: string; smtpPort: number }): Promise<void> {
      const answer = await sendBySmtp(relay.smtpPort, { to: [ADA], raw: sent.at(-1)! });
      assert.match(answer, /^250 2\.0\.0 taken as /);
      const stored = await storedRaws(holder!.at(relay), ADA);
      assert.deepEqual(stored.map(withoutTrace), sent, `killed at: ${STEPS[sent.length - 1]}`);
    }
  });
});

partOrSkip(
  "postfix",
  "postfix's queue goes to a relay that is killed and started again",
  async (_postconf, t) => {
    await t.step({ name: "as root", ignore: Deno.uid() !== 0, fn: () => withFolder(queued) });
  },
);

async function queued(dataDir: string): Promise<void> {
  const port = (() => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    return listener.addr.port;
  })();
  const env = { RELAY_DATA_DIR: dataDir, RELAY_MAIL_LISTEN: `127.0.0.1:${port}` };
  // One mail at a time: the relay halts at its fifth.
  const settings = "transport_retry_time = 1s\nsmtp_destination_concurrency_limit = 1";
  await using postfix = await startPostfixSender({ port, settings });
  let holder: MailKeyHolder | undefined;
  const kills: HaltStep[] = isLong
    ? ["committed", "before answer", "commit formed", "committed", "bytes written"]
    : ["committed"];
  const subjects = Array.from({ length: MAILS }, (_, i) => `mail ${i}`);
  for (const step of kills) {
    const { env: halts, ...options } = halting(step, 5);
    await using relay = await spawnSmtpRelay({ ...options, env: { ...env, ...halts } });
    if (holder === undefined) {
      holder = await newOrgAt(relay);
      await holder.inbox({ local_part: "ada" });
      for (const Subject of subjects) {
        await postfix.submit("sender@else.test", [ADA], mailText({ headers: { Subject } }));
      }
    }
    const flushing = setInterval(() => void postfix.flush(), 2_000);
    await relay.status;
    clearInterval(flushing);
  }
  await using relay = await spawnSmtpRelay({ env });
  const found = await until(async () => {
    await postfix.flush();
    await delay(500);
    const raws = await storedRaws(holder!.at(relay), ADA);
    return raws.length >= MAILS ? raws : undefined;
  }, 60_000).catch(async (error) => {
    throw new Error(`${error}\n${await postfix.log()}`);
  });
  const seen = found.map((raw) => /^Subject: (.*)\r$/m.exec(raw)![1]!);
  assert.deepEqual(seen.toSorted(), subjects.toSorted());
  assert.doesNotMatch(await postfix.log(), /status=bounced/);
}
