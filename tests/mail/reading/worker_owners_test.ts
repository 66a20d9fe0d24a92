/** Each job of the mail workers takes a turn of the org whose mail it is, whatever the way in. */
import assert from "node:assert/strict";
import { MailWorker } from "../../../server/mail/worker/mail_worker.ts";
import { makeDraftWorld, newDraft, newestApproval, openPage } from "../../support/draft_world.ts";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { accepted } from "../../support/mail_caller.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { send } from "../../support/sending_org.ts";

const METHODS = [
  "read",
  "readAttachment",
  "readAttachments",
  "readRequest",
  "composeAndRead",
  "preview",
];

/** Notes the last argument of each call, which is the owner. */
function watchOwners() {
  const seen: [method: string, owner: string][] = [];
  const prototype = MailWorker.prototype as unknown as Record<
    string,
    (...given: unknown[]) => unknown
  >;
  const former = METHODS.map((name) => [name, prototype[name]!] as const);
  for (const [name, method] of former) {
    prototype[name] = function (...given) {
      seen.push([name, given.at(-1) as string]);
      return method.apply(this, given);
    };
  }
  const restore = () => former.forEach(([name, method]) => prototype[name] = method);
  return { seen, [Symbol.dispose]: restore };
}

Deno.test("every job of the mail workers takes the turn of the org whose mail it is", async () => {
  using watched = watchOwners();
  await using relay = await startMailRelay({ clockStartMs: "real" });
  const attachment = { filename: "a.txt", content_type: "text/plain", content: btoa("a") };
  const orgs: string[] = [];
  for (const email of ["one@example.org", "two@example.org"]) {
    const { owner, agent, inbox } = await makeDraftWorld(relay, { email });
    orgs.push(owner.orgId);
    const before = watched.seen.length;
    await newDraft(agent, inbox.id, { to: "ann@example.org", html: "<p>x" });
    accepted(await openPage(relay, await newestApproval(relay, email)), 200);
    accepted(await send(owner, inbox, { html: "<p>x", attachments: [attachment] }), 202);
    const raw = mailText({
      headers: { "Content-Type": 'application/pdf; name="a"', "Content-Disposition": "attachment" },
    });
    const timestamp = relay.clock.seconds();
    accepted(await handIn(relay.url, { to: [inbox.address], raw, timestamp }), 200);
    const { data } = accepted(
      await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages?direction=inbound`),
      200,
    );
    const path = `/v1/mail/messages/${data[0].id}`;
    assert.equal((await owner.ask("GET", `${path}/attachments/att_0`)).status, 200);
    accepted(await owner.ask("POST", `${path}/forward`, { body: { to: "bob@example.org" } }), 202);
    const jobs = watched.seen.slice(before);
    assert.deepEqual([...new Set(jobs.map(([name]) => name))].sort(), METHODS.toSorted());
    assert.deepEqual([...new Set(jobs.map(([, to]) => to))], [owner.orgId]);
  }
  assert.equal(new Set(orgs).size, 2);
});
