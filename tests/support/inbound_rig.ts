/** A relay, an org with an inbox, and mail for it. */
import { parseConfig } from "../../server/base/config/config.ts";
import type { Limits } from "../../server/base/config/limits.ts";
import type { Mailer } from "../../server/base/mailer/mailer.ts";
import { handIn, type InboundOptions, mailText } from "./inbound_mail.ts";
import { accepted, MailKeyHolder, newOrg } from "./mail_caller.ts";
import type { MailAnswer } from "./mail_relay.ts";
import { TEST_INBOUND_SECRET } from "./inbound_secret.ts";
import { startMailStore, verifyOrg } from "./mail_store.ts";
import type { TestRelay, TestRelayOptions } from "./relay.ts";

export interface InboundRigOptions {
  limits?: Partial<Limits>;
  /** Whether the org stays a trial. */
  trial?: boolean;
  inbox?: Record<string, unknown>;
  /** The DNS that senders are checked with; without it none is checked, as in local mode. */
  dns?: { host: string; port: number };
}

export interface InboundRig extends AsyncDisposable {
  relay: TestRelay;
  kv: Deno.Kv;
  holder: MailKeyHolder;
  // deno-lint-ignore no-explicit-any -- the inbox as answered
  inbox: any;
  /** Hands in one message at the relay's time. */
  deliver(options?: Partial<InboundOptions>): Promise<MailAnswer>;
  /** The same with headers and a text of its own; the id of the stored message. */
  store(mail?: Parameters<typeof mailText>[0], options?: Partial<InboundOptions>): Promise<string>;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  list(query?: string): Promise<any>;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  get(path: string): Promise<any>;
  /** How many bytes the org keeps, as the store says. */
  storedBytes(): Promise<number>;
}

/** A verified org unless `trial`; the store is a shared one, which the test may write to. */
export async function startInboundRig(
  { limits, trial = false, inbox: fields, dns }: InboundRigOptions = {},
): Promise<InboundRig> {
  const { relay, kv, ...opened } = await startMailStore({
    ...(limits === undefined ? {} : { limits }),
    ...(dns === undefined ? {} : checkingBy(dns)),
  });
  const holder = await newOrg(relay);
  // Its first day is over, unless a test says otherwise.
  if (!trial) await verifyOrg(kv, holder.orgId, relay.clock.now() - 2 * 86_400_000);
  const inbox = await holder.inbox({ local_part: "ada", ...fields });
  const rig: InboundRig = {
    relay,
    kv,
    holder,
    inbox,
    deliver: (options = {}) =>
      handIn(relay.url, {
        to: [inbox.address],
        raw: mailText(),
        timestamp: relay.clock.seconds(),
        ...options,
      }),
    async store(mail = {}, options = {}) {
      accepted(await rig.deliver({ raw: mailText(mail), ...options }), 200);
      const { data } = await rig.list("?limit=1");
      return data[0].id;
    },
    list: (query = "") => rig.get(`/v1/mail/inboxes/${inbox.id}/messages${query}`),
    get: async (path) => accepted(await holder.ask("GET", path), 200),
    async storedBytes() {
      const { value } = await kv.get<{ bytes: number }>(["mail-storage", holder.orgId, "bytes"]);
      return value?.bytes ?? 0;
    },
    [Symbol.asyncDispose]: opened[Symbol.asyncDispose],
  };
  return rig;
}

/** A relay beyond local mode, whose next hop takes everything. */
function checkingBy(dns: { host: string; port: number }): TestRelayOptions {
  const mailer: Mailer = {
    async send(_mail, handover) {
      await handover.beforeContent();
      return { result: "sent", reason: "taken", reply: null };
    },
    close: () => Promise.resolve(),
  };
  const { mail } = parseConfig({ RELAY_MAIL_DEV: "true" });
  const checking = {
    local: false,
    smtp: { host: "127.0.0.1", port: 9, secure: false },
    dnsServers: [dns],
    inboundSecret: TEST_INBOUND_SECRET,
  };
  return {
    config: { mail: { ...mail, ...checking } },
    deps: { mailer, now: Date.now },
    clockStartMs: "real",
  };
}
