/** A relay over HTTP whose store a test puts webhooks into, and sees the events of that commits raise. */
import { accepted, type MailKeyHolder } from "../../support/mail_caller.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { type RaisedEvent, shown, watchEvents } from "../../support/raised_events.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import type { TestRelay, TestRelayOptions } from "../../support/relay.ts";
import { newSendingOrg } from "../../support/sending_org.ts";

export interface EventWorld extends AsyncDisposable {
  relay: TestRelay;
  /** As a test reads and changes it, unwatched. */
  kv: Deno.Kv;
  owner: MailKeyHolder;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  inbox: any;
  take(): RaisedEvent[];
  /** What was raised since the last call, in short. */
  told(): string[];
  /** Hands a mail in, from outside. */
  receive(to: string, options?: Parameters<typeof mailText>[0]): Promise<void>;
}

/** The relay takes its store for a shared one, and so sees what the test writes. */
export async function startEventWorld(options: TestRelayOptions = {}): Promise<EventWorld> {
  const kv = await openMemoryKv();
  const events = watchEvents(kv);
  const relay = await startMailRelay({
    ...options,
    config: { sharedStore: true, ...options.config },
    deps: { kv: events.kv, ...options.deps },
  });
  const owner = await newSendingOrg(relay);
  return {
    relay,
    kv,
    owner,
    inbox: await owner.inbox({ local_part: "ada" }),
    take: events.take,
    told: () => events.take().map(shown),
    async receive(to, mail = {}) {
      const timestamp = Math.floor(relay.clock.now() / 1000);
      accepted(await handIn(relay.url, { to: [to], raw: mailText(mail), timestamp }), 200);
    },
    async [Symbol.asyncDispose]() {
      try {
        await relay.stop();
      } finally {
        kv.close();
      }
    },
  };
}
