/** A real relay whose clock a test moves, its clients, a next hop that keeps its mail, and what all of them know. */
import { join } from "node:path";
import { MovedClock, removeSharedMemory } from "../support/moved_clock.ts";
import type { MailKeyHolder } from "../support/mail_caller.ts";
import { startSmtpServer, type TestSmtpServer } from "../support/smtp_server.ts";
import { newClaimedOrg } from "../support/spawned_org.ts";
import { type SpawnedRelay, spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent, type Target } from "../support/test_agent.ts";
import { TRAFFIC_LIMITS } from "../support/traffic.ts";
import { Ledger } from "./ledger.ts";
import { MailLedger } from "./mail_ledger.ts";

const SECRET = new Uint8Array(32).fill(9);
const PLENTY = 1_000_000;
const LIMITS = {
  ...TRAFFIC_LIMITS,
  mailSendsPerInboxPerHour: PLENTY,
  mailRecipientsPerOrgPerDay: PLENTY,
  mailRecipientsPerOrgFirstDay: PLENTY,
  mailRecipientsNewOrgsPerDay: PLENTY,
  mailInboundPerInboxPerHour: PLENTY,
  mailInboundPerClientPerHour: PLENTY,
};

export interface MovedRelayOptions {
  /** Agents that are enrolled in the ledger; 2 unless given. */
  agents?: number;
  env?: Record<string, string>;
}

export class MovedRelay implements AsyncDisposable {
  readonly ledger = new Ledger();
  mail!: MailLedger;
  /** The process that was started last. */
  relay!: SpawnedRelay;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  inbox: any;
  #owner!: MailKeyHolder;
  readonly #others: SpawnedRelay[] = [];

  private constructor(
    readonly clock: MovedClock,
    readonly smtp: TestSmtpServer,
    readonly dataDir: string,
    private readonly env: Record<string, string>,
  ) {}

  /** Starts one at the machine's time, with agents, and an org that may send. */
  static async start(faketime: string, options: MovedRelayOptions = {}): Promise<MovedRelay> {
    const smtp = await startSmtpServer();
    const moved = new MovedRelay(
      await MovedClock.make(faketime),
      smtp,
      await Deno.makeTempDir({ prefix: "moved-relay-" }),
      {
        RELAY_SMTP_URL: smtp.url,
        RELAY_MAIL_FROM: "relay@example.org",
        RELAY_MAIL_DOMAIN: "agents.test",
        RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
        RELAY_LIMITS: JSON.stringify(LIMITS),
        // What is shown here is what becomes of repetitions, not that such a start is refused.
        RELAY_CLOCK_CHECK: "off",
        ...options.env,
      },
    );
    try {
      await moved.restart();
      for (let i = 0; i < (options.agents ?? 2); i++) {
        moved.ledger.enroll(await registerAgent(moved.target, `agent_${i}`));
      }
      const taken = async () => (await smtp.next()).content.toString();
      moved.#owner = await newClaimedOrg(moved.relay, taken);
      smtp.received.length = 0;
      moved.inbox = await moved.owner.inbox({ local_part: "ada" });
      moved.mail = new MailLedger({ inbox: moved.inbox, smtp, secret: SECRET });
      return moved;
    } catch (error) {
      await moved[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Clients that live by the relay's clock, as those of its machine do. */
  get target(): Target {
    return { url: this.relay.url, clock: this.clock };
  }

  get owner(): MailKeyHolder {
    return this.#owner.at(this.relay);
  }

  get kvPath(): string {
    return join(this.dataDir, "relay.kv");
  }

  /** Another process on the store. @param clock its own, the same unless given */
  async add(clock = this.clock): Promise<SpawnedRelay> {
    const relay = await spawnRelay({
      entry: "./relay_of_short_doubt.ts",
      env: { RELAY_DATA_DIR: this.dataDir, ...this.env, ...clock.env },
    });
    this.#others.push(relay);
    return relay;
  }

  /** Ends the relay as a power cut does, and starts it again by a clock so many ms ahead of the machine's. */
  async restart(aheadMs = this.clock.aheadMs): Promise<void> {
    await this.kill();
    this.clock.moveTo(aheadMs);
    this.relay = await this.add();
  }

  /** Ends all processes. */
  async kill(): Promise<void> {
    for (const relay of this.#others.splice(0)) {
      await relay.kill("SIGKILL");
      await removeSharedMemory(relay.pid);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.smtp.stop();
    await this.clock[Symbol.asyncDispose]();
    await Deno.remove(this.dataDir, { recursive: true });
  }
}
