/** Orgs whose mail hangs after its final dot, over sockets: what they may hold up, and what not. */
import assert from "node:assert/strict";
import { createSmtpMailer } from "../../../server/base/mailer/smtp_mailer.ts";
import { accepted, type MailKeyHolder, newOrg } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { verifyOrg } from "../../support/mail_store.ts";
import { askForLink } from "../../support/mail_links.ts";
import { delay, settlesWithin } from "../../support/pace.ts";
import type { TestRelay } from "../../support/relay.ts";
import { type ScriptedSmtp, startScriptedSmtp } from "../../support/scripted_smtp.ts";
import { deliver, listMessages, readMessage, send } from "../../support/sending_org.ts";

interface Sender {
  owner: MailKeyHolder;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  inbox: any;
}

/** Concurrent connections that mail may use. */
const SLOTS = 7;
const MAILS_AN_ORG = 5;
/** Far longer than a mail takes; far shorter than anything that hangs is given. */
const SOON_MS = 8_000;

class World implements AsyncDisposable {
  readonly #runs: Promise<void>[] = [];
  constructor(readonly relay: TestRelay, readonly smtp: ScriptedSmtp) {}

  static async start(): Promise<World> {
    const smtp = startScriptedSmtp();
    smtp.hangAfter(/hang/);
    const mailer = createSmtpMailer({
      smtp: { host: "127.0.0.1", port: smtp.port, secure: false },
      ehloName: "agents.test",
      timing: { quitMs: 50 },
    });
    const limits = { mailRegistrationsPerIpPerHour: 100, mailMinFreeDiskBytes: 0 };
    const config = { sharedStore: true }; // orgs are verified beside it
    return new World(await startMailRelay({ limits, deps: { mailer }, config }), smtp);
  }

  async sender(): Promise<Sender> {
    const owner = await newOrg(this.relay);
    await verifyOrg(this.relay.deps.kv, owner.orgId, this.relay.clock.now());
    return { owner, inbox: await owner.inbox({}) };
  }

  async send({ owner, inbox }: Sender, to: string): Promise<string> {
    return accepted(await send(owner, inbox, { to, subject: `for ${to}` }), 202).id;
  }

  /** Lets the queue work off what is due, for as long as that takes. */
  run(): void {
    this.#runs.push(deliver(this.relay));
  }

  /** Waits for a content that came whole. */
  async arrives(to: string): Promise<boolean> {
    this.run();
    return await settlesWithin(this.until(() => this.#has(to)), SOON_MS);
  }

  async until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    while (!await isSo()) await delay(5);
  }

  #has(to: string): boolean {
    return this.smtp.contents.some((content) => content.includes(`To: ${to}\r\n`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.smtp.hangAfter(/^$/);
    const releasing = setInterval(() => this.smtp.release("250 stored"), 5);
    try {
      await Promise.all(this.#runs);
      await this.relay.stop();
      await this.relay.deps.mailer!.close();
    } finally {
      clearInterval(releasing);
      await this.smtp[Symbol.asyncDispose]();
    }
  }
}

/** Every status that a sender's messages have. */
async function statuses({ owner, inbox }: Sender): Promise<string[]> {
  return (await listMessages(owner, inbox)).map(({ status }) => status);
}

for (
  const [count, domainOf, isKnown, what] of [
    [2, (i: number) => `hang${i}.test`, false, "domains of their own"],
    [5, (i: number) => `hang${i}.test`, false, "domains of their own"],
    [20, () => "hang.test", false, "one domain"],
    [20, (i: number) => `hang${i}.test`, true, "domains of their own, before an org that is known"],
  ] as const
) {
  Deno.test(`${count} orgs whose mail hangs (${what}) hold up no other mail`, async () => {
    await using world = await World.start();
    const innocent = await world.sender();
    if (isKnown) {
      await world.send(innocent, "known@example.org");
      assert.ok(await world.arrives("known@example.org"));
    }
    const others = await Promise.all(Array.from({ length: count }, () => world.sender()));
    for (const [i, other] of others.entries()) {
      for (let n = 0; n < MAILS_AN_ORG; n++) {
        await world.send(other, `x${n}@${(domainOf as (i: number) => string)(i)}`);
      }
    }
    world.run();
    const held = () => world.smtp.contents.filter((content) => /^To: x/m.test(content)).length;
    const expected: number = Math.min(domainOf(0) === "hang.test" ? 1 : count, SLOTS - 1);
    await settlesWithin(world.until(() => held() === expected), SOON_MS);
    assert.equal(held(), expected);

    // What waits for a slot is not shown as if it were being sent.
    const shown = (await Promise.all(others.map(statuses))).flat();
    assert.equal(shown.filter((status) => status === "sending").length, expected);
    assert.equal(shown.filter((status) => status === "queued").length, shown.length - expected);

    const outside = await world.send(innocent, "ann@example.org");
    assert.ok(await world.arrives("ann@example.org"), "mail of another org");
    const isSent = async () => (await readMessage(innocent.owner, outside)).status === "sent";
    assert.ok(await settlesWithin(world.until(isSent), SOON_MS));

    const inside = await world.send(others[0]!, innocent.inbox.address);
    world.run();
    const isIn = async () => (await readMessage(others[0]!.owner, inside)).status === "sent";
    assert.ok(await settlesWithin(world.until(isIn), SOON_MS), "mail between inboxes");

    for (const email of ["one@hang.test", "owner@example.org"]) {
      accepted(await askForLink(world.relay, email), 202);
    }
    assert.ok(await world.arrives("owner@example.org"), "a sign-in link");
    assert.equal(held(), expected, "all still hang");
  });
}

Deno.test("links to domains that hang hold up no link to a domain that is known", async () => {
  await using world = await World.start();
  const ask = async (email: string) => accepted(await askForLink(world.relay, email), 202);
  await ask("known@example.org");
  assert.ok(await world.arrives("known@example.org"));
  const hanging = Array.from({ length: 10 }, (_, i) => `one@hang${i}.test`);
  for (const email of hanging) await ask(email);
  world.run();
  const held = () => world.smtp.contents.filter((content) => /^To: one@/m.test(content)).length;
  await settlesWithin(world.until(() => held() > 1), SOON_MS);
  assert.ok(held() > 1 && held() < hanging.length, `${held()} hang`);
  await ask("owner@example.org");
  assert.ok(await world.arrives("owner@example.org"), "a sign-in link");
});
