/** A relay with outbound mail, agents with notification e-mails, and the SMTP server they lead to. */
import { type Config, parseConfig } from "../../../server/base/config/config.ts";
import { createSmtpMailer, type SmtpTiming } from "../../../server/base/mailer/smtp_mailer.ts";
import { assertStatus } from "../../support/answer.ts";
import { startTestRelay, type TestRelay, type TestRelayOptions } from "../../support/relay.ts";
import { registerAgent, type TestAgent } from "../../support/test_agent.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;

/** A test of silence shortens what it waits for. */
const TIMING: Partial<SmtpTiming> = {
  connectMs: 60_000,
  replyMs: 60_000,
  finalReplyMs: 60_000,
  quitMs: 50,
};

export interface DigestBench extends AsyncDisposable {
  relay: TestRelay;
  /** Registers an agent; with an address, sets it. */
  agent(handle: string, email?: string): Promise<TestAgent>;
  /** The crons, at the clock's present time. */
  sweep(): Promise<void>;
  deliver(): Promise<void>;
  /** Moves the clock and runs the cron that is due then. */
  sweepAfter(ms: number): Promise<void>;
  events(name: string): Record<string, unknown>[];
}

export interface DigestBenchOptions {
  smtpPort: number;
  timing?: Partial<SmtpTiming>;
  relay?: TestRelayOptions;
  baseUrl?: string;
}

/** Configuration of outbound mail by this port. */
export function outbound(smtpPort: number): Config["mail"] {
  return parseConfig({
    RELAY_SMTP_URL: `smtp://127.0.0.1:${smtpPort}`,
    RELAY_MAIL_FROM: "Relay <relay@example.org>",
  }).mail;
}

export async function startDigestBench(options: DigestBenchOptions): Promise<DigestBench> {
  const mail = outbound(options.smtpPort);
  const mailer = createSmtpMailer({
    smtp: mail.smtp!,
    ehloName: "relay.example.org",
    timing: { ...TIMING, ...options.timing },
  });
  const relay = await startTestRelay({
    ...options.relay,
    limits: {
      registrationsPerIpPerHour: 1_000,
      sendsPerAgentPerMinute: 1_000,
      ...options.relay?.limits,
    },
    config: {
      ...options.relay?.config,
      mail,
      ...(options.baseUrl === undefined ? {} : { baseUrl: options.baseUrl }),
    },
    deps: { ...options.relay?.deps, mailer },
  });
  const sweep = () => relay.relay.crons.digest!();
  return {
    relay,
    async agent(handle, email) {
      const agent = await registerAgent(relay, handle);
      if (email !== undefined) await setEmail(agent, email);
      return agent;
    },
    sweep,
    deliver: () => relay.relay.crons.outgoing!(),
    async sweepAfter(ms) {
      relay.clock.advance(ms);
      await sweep();
    },
    events: (name) => relay.logged.filter(({ event }) => event === name).map((one) => one.fields),
    async [Symbol.asyncDispose]() {
      await relay.stop();
      await mailer.close();
    },
  };
}

/** What a digest's text begins with, as in "2 unread messages for @bob". */
export function headlineOf({ text }: { text?: string }): string {
  return /^.*(?=, from:)/.exec(text!)![0];
}

/** Sets or clears the notification e-mail of an agent. */
export async function setEmail(agent: TestAgent, email: string | null): Promise<void> {
  const body = { notification_email: email };
  assertStatus(await agent.call("PATCH", "/v1/agents/me", { body }), 200);
}
