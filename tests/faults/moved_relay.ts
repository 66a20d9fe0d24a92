/**
 * A real relay whose clock a test moves, in one process or several, with its clients, a next hop that
 * keeps its mail, and what all of them know.
 */
import { join } from "node:path";
import { type ScriptedDns, startScriptedDns } from "../support/dns_server.ts";
import type { MailKeyHolder } from "../support/mail_caller.ts";
import { MovedClock, removeSharedMemory } from "../support/moved_clock.ts";
import { delay } from "../support/pace.ts";
import { startSmtpServer, type TestSmtpServer } from "../support/smtp_server.ts";
import { newClaimedOrg } from "../support/spawned_org.ts";
import { type SpawnedRelay, spawnRelay } from "../support/spawn_relay.ts";
import { registerAgent, type Target } from "../support/test_agent.ts";
import { realTarget, TRAFFIC_LIMITS } from "../support/traffic.ts";
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
  /** Processes on the store, by the same clock; 1 unless given. */
  processes?: number;
  /** Agents that are enrolled in the ledger; 2 unless given. */
  agents?: number;
}

export class MovedRelay implements AsyncDisposable {
  readonly ledger: Ledger;
  readonly processes: SpawnedRelay[] = [];
  /** All that run. */
  readonly #spawned = new Set<SpawnedRelay>();
  /** Starts that were refused because the clock was far behind the store, and made again as their message says. */
  refusedStarts = 0;
  mail!: MailLedger;
  inbox!: { id: string; address: string };
  #owner!: MailKeyHolder;

  private constructor(
    readonly clock: MovedClock,
    readonly smtp: TestSmtpServer,
    private readonly dns: ScriptedDns,
    readonly dataDir: string,
    private readonly env: Record<string, string>,
  ) {
    this.ledger = new Ledger("message", clock.seconds);
  }

  /** Starts it at the machine's time, with agents, and an org that may send. */
  static async start(faketime: string, options: MovedRelayOptions = {}): Promise<MovedRelay> {
    const { processes = 1, agents = 2 } = options;
    const clock = await MovedClock.make(faketime);
    const smtp = await startSmtpServer();
    const dns = startScriptedDns();
    const moved = new MovedRelay(
      clock,
      smtp,
      dns,
      await Deno.makeTempDir({ prefix: "moved-relay-" }),
      {
        RELAY_SMTP_URL: smtp.url,
        RELAY_MAIL_FROM: "relay@example.org",
        RELAY_MAIL_DOMAIN: "agents.test",
        RELAY_MAIL_INBOUND_SECRET: `whsec_${SECRET.toBase64()}`,
        RELAY_DNS_SERVERS: `${dns.server.host}:${dns.server.port}`,
        RELAY_LIMITS: JSON.stringify(LIMITS),
        ...(processes === 1 ? {} : { RELAY_SHARED_STORE: "true" }),
      },
    );
    try {
      for (let i = 0; i < processes; i++) moved.processes.push(await moved.spawn());
      for (let i = 0; i < agents; i++) {
        moved.ledger.enroll(await registerAgent(moved.target(), `agent_${i}`));
      }
      const taken = async () => (await smtp.next()).content.toString();
      moved.#owner = await newClaimedOrg(moved.processes[0]!, taken);
      smtp.received.length = 0;
      moved.inbox = await moved.owner().inbox({ local_part: "ada" });
      moved.mail = new MailLedger({ inbox: moved.inbox, smtp, secret: SECRET });
      return moved;
    } catch (error) {
      await moved[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** A process, as called by clients that live by the relay's clock, such as those on its machine. */
  target(index = 0): Target {
    const { url, clock } = realTarget(this.processes[index]!.url);
    return { url, clock: { ...clock, now: this.clock.now, seconds: this.clock.seconds } };
  }

  owner(index = 0): MailKeyHolder {
    return this.#owner.at(this.processes[index]!);
  }

  get kvPath(): string {
    return join(this.dataDir, "relay.kv");
  }

  /** Ends every process as a power cut does, and starts them by a clock so many ms ahead of the machine's. */
  async restart(aheadMs: number, settings: Record<string, string> = {}): Promise<void> {
    await this.kill();
    this.clock.moveTo(aheadMs);
    for (let i = 0; i < this.processes.length; i++) {
      this.processes[i] = await this.spawn(this.clock, settings);
    }
  }

  /** Ends one process, and starts another in its place by a moved clock. */
  async replace(index: number, signal: Deno.Signal, aheadMs: number): Promise<void> {
    await this.#end(this.processes[index]!, signal);
    this.clock.moveTo(aheadMs);
    this.processes[index] = await this.spawn();
  }

  /** Moves the clock while a process stands still for some ms. */
  async freeze(index: number, aheadMs: number, forMs: number): Promise<void> {
    const { pid } = this.processes[index]!;
    Deno.kill(pid, "SIGSTOP");
    await delay(forMs / 2);
    this.clock.moveTo(aheadMs);
    await delay(forMs / 2);
    Deno.kill(pid, "SIGCONT");
  }

  /** Makes the store delete what has expired by the clock, as it does by itself within a minute. */
  async sweep(): Promise<void> {
    const open = "const kv = await Deno.openKv(Deno.args[0]); await kv.get([]); kv.close();";
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", "--quiet", "--unstable-kv", open, this.kvPath],
      env: this.clock.env,
    }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  }

  /** Ends all processes. */
  async kill(): Promise<void> {
    await Promise.all([...this.#spawned].map((relay) => this.#end(relay, "SIGKILL")));
  }

  async #end(relay: SpawnedRelay, signal: Deno.Signal): Promise<void> {
    this.#spawned.delete(relay);
    await relay.kill(signal);
    await removeSharedMemory(relay.pid);
  }

  /** One more process on the store. @param clock its own, the same unless given */
  async spawn(
    clock = this.clock,
    settings: Record<string, string> = {},
  ): Promise<SpawnedRelay> {
    const relay = await this.#spawn(clock, settings).catch((error) => {
      if (!/start once with RELAY_CLOCK_CHECK=off/.test(`${error}`)) throw error;
      this.refusedStarts++;
      return this.#spawn(clock, { RELAY_CLOCK_CHECK: "off" });
    });
    this.#spawned.add(relay);
    return relay;
  }

  #spawn(clock: MovedClock, settings: Record<string, string>): Promise<SpawnedRelay> {
    const env = { RELAY_DATA_DIR: this.dataDir, ...this.env, ...clock.env, ...settings };
    return spawnRelay({ entry: "./relay_of_short_doubt.ts", env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.smtp.stop();
    await this.dns[Symbol.asyncDispose]();
    await this.clock[Symbol.asyncDispose]();
    await Deno.remove(this.dataDir, { recursive: true });
  }
}
