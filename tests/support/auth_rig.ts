/** A checker of mails over scripted DNS, with its real worker. */
import { Buffer } from "node:buffer";
import type { StartWorker } from "../../server/base/workers/start_worker.ts";
import {
  AuthChecker,
  type CheckerBounds,
  startAuthWorker,
} from "../../server/mail/receiving/sender_checks/auth_checker.ts";
import type {
  MailClient,
  SenderCheck,
} from "../../server/mail/receiving/sender_checks/auth_messages.ts";
import { createDnsClient } from "../../server/base/outside/dns_client.ts";
import type { LookupBounds } from "../../server/mail/receiving/sender_checks/lookups.ts";
import type { Party } from "../../server/mail/receiving/sender_checks/next_check.ts";
import type { MailAuth } from "../../server/mail/records/message_record.ts";
import { type ScriptedDns, type ScriptedRecords, startScriptedDns } from "./dns_server.ts";

export interface AuthRig extends AsyncDisposable {
  dns: ScriptedDns;
  checker: AuthChecker;
  losses: unknown[];
  /** Makes DNS answer from these records alone; nothing is cached from before. */
  publish(zone: Record<string, ScriptedRecords>): void;
  /** @param mail a character is a byte */
  check(mail: string | Uint8Array<ArrayBuffer>, client?: Partial<MailClient>): Promise<MailAuth>;
  /** The same with all that a check finds. */
  checkSender(
    mail: string | Uint8Array<ArrayBuffer>,
    client?: Partial<MailClient>,
    party?: Party,
  ): Promise<SenderCheck>;
}

/** Where mails come from unless a test says otherwise. */
export const CLIENT_IP = "192.0.2.1";

export function startAuthRig(
  zone: Record<string, ScriptedRecords> = {},
  options: {
    start?: StartWorker;
    bounds?: Partial<CheckerBounds>;
    lookups?: LookupBounds;
    now?: () => number;
    trustedSealers?: readonly string[];
  } = {},
): AuthRig {
  const dns = startScriptedDns(zone);
  const losses: unknown[] = [];
  const onFailure = (failure: unknown) => void losses.push(failure);
  const checker = new AuthChecker({
    dns: createDnsClient([dns.server], () => {}),
    start: startAuthWorker,
    onLoss: onFailure,
    now: Date.now,
    ...options,
  });
  const rig: AuthRig = {
    dns,
    checker,
    losses,
    publish(records) {
      dns.zone.clear();
      for (const [question, answer] of Object.entries(records)) dns.zone.set(question, answer);
    },
    check: async (mail, client) => (await rig.checkSender(mail, client)).auth,
    checkSender: (mail, client = {}, party = { org: "org", source: CLIENT_IP }) =>
      checker.check(
        typeof mail === "string" ? new Uint8Array(Buffer.from(mail, "latin1")) : mail,
        {
          clientIp: CLIENT_IP,
          helo: "mx.example.org",
          envelopeFrom: "alice@example.org",
          ...client,
        },
        party,
      ),
    async [Symbol.asyncDispose]() {
      checker.close();
      await dns[Symbol.asyncDispose]();
    },
  };
  return rig;
}
