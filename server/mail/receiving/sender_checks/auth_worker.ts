/**
 * The program of the checking worker. It runs without any permission, and asks its host for what it
 * wants of DNS.
 */
import type { DnsAnswer, RecordType } from "../../../../toolkit/mail/dns_message.ts";
import { serveJobs } from "../../../base/workers/serve_jobs.ts";
import type { AuthWord, DnsWord, MailToCheck, SenderCheck } from "./auth_messages.ts";
import { checkAuth } from "./check_auth.ts";

const answers = new Map<number, (answer: DnsAnswer) => void>();
let questions = 0;

// The library prints what strangers wrote.
for (const name of ["log", "info", "warn", "error", "debug"] as const) console[name] = () => {};

serveJobs<MailToCheck, SenderCheck, AuthWord, DnsWord>({
  run({ raw, client, nowMs, trustedSealers }, tell) {
    const lookup = (name: string, type: RecordType) => {
      const question = questions++;
      tell({ kind: "lookup", question, name, type });
      return new Promise<DnsAnswer>((resolve) => answers.set(question, resolve));
    };
    const events = {
      begun: (fromDomain: string | null) => tell({ kind: "begun", fromDomain }),
      hashed: () => tell({ kind: "hashed" }),
    };
    return checkAuth(raw, client, nowMs, lookup, events, trustedSealers);
  },
  onWord({ question, answer }) {
    answers.get(question)?.(answer);
    answers.delete(question);
  },
});
