/** A relay with an org that may send, before a next hop that a test scripts. */
import { createSmtpMailer } from "../../server/base/mailer/smtp_mailer.ts";
import type { Limits } from "../../server/base/config/limits.ts";
import { TEST_START_MS } from "./clock.ts";
import { MailKeyHolder } from "./mail_caller.ts";
import { startMailRelay } from "./mail_relay.ts";
import type { TestRelay } from "./relay.ts";
import { type ScriptedSmtp, startScriptedSmtp } from "./scripted_smtp.ts";
import { newSendingOrg } from "./sending_org.ts";

export interface NextHopRelay extends AsyncDisposable {
  relay: TestRelay;
  smtp: ScriptedSmtp;
  owner: MailKeyHolder;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  inbox: any;
  /** Stops the relay and starts another on its store, at the clock's time; on a full disk if so. */
  restart(options?: { isDiskFull?: boolean }): Promise<TestRelay>;
}

/** The org is verified in local mode, whose next hop keeps the link; then the next hop is another. */
export async function startNextHopRelay(
  { limits }: { limits?: Partial<Limits> } = {},
): Promise<NextHopRelay> {
  const dataDir = await Deno.makeTempDir({ prefix: "relay-next-hop-" });
  const smtp = startScriptedSmtp();
  const start = (clockStartMs: number, own?: typeof smtp, isDiskFull = false) =>
    startMailRelay({
      config: { dataDir },
      kvPath: `${dataDir}/relay.kv`,
      clockStartMs,
      ...(limits === undefined ? {} : { limits }),
      relay: { measureFreeBytes: () => Promise.resolve(isDiskFull ? 2 ** 30 : 2 ** 40) },
      ...(own === undefined ? {} : {
        deps: {
          mailer: createSmtpMailer({
            smtp: { host: "127.0.0.1", port: own.port, secure: false },
            ehloName: "agents.test",
            timing: { connectMs: 5_000, replyMs: 5_000, finalReplyMs: 5_000, quitMs: 50 },
          }),
        },
      }),
    });
  const first = await start(TEST_START_MS);
  const maker = await newSendingOrg(first);
  const inbox = await maker.inbox({ local_part: "ada" });
  const atMs = first.clock.now();
  await first.stop();
  const world: NextHopRelay = {
    relay: await start(atMs, smtp),
    smtp,
    owner: maker,
    inbox,
    async restart({ isDiskFull } = {}) {
      const restartMs = world.relay.clock.now();
      await world.relay.stop();
      await world.relay.deps.mailer!.close();
      world.relay = await start(restartMs, smtp, isDiskFull);
      world.owner = world.owner.at(world.relay);
      return world.relay;
    },
    async [Symbol.asyncDispose]() {
      try {
        await world.relay.stop();
        await world.relay.deps.mailer!.close();
      } finally {
        await smtp[Symbol.asyncDispose]();
        await Deno.remove(dataDir, { recursive: true });
      }
    },
  };
  world.owner = maker.at(world.relay);
  return world;
}
