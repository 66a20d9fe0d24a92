/** Every form for people is read by one strict reader. */
import assert from "node:assert/strict";
import { signIn } from "../../messaging/operator/operator.ts";
import { makeDraftWorld, newDraft, newestApproval } from "../../support/draft_world.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { FORM } from "../../support/local_mail.ts";
import { CLAIM_CONFIRM, claimLink, MAGIC_CONFIRM, magicLink } from "../../support/mail_links.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import type { TestRelay } from "../../support/relay.ts";
import { registerAgents } from "../../support/test_agent.ts";

interface Door {
  path: string;
  headers: Record<string, string>;
  /** What a browser would send. */
  fields: Record<string, string>;
  /** What it then answers. */
  status: number;
}

const LETTER = { to: "ann@example.org", subject: "Hello", text: "How are you?" };

/** One form from each place where people press buttons, with no button pressed yet. */
async function openDoors(relay: TestRelay): Promise<Door[]> {
  const [alice] = await registerAgents(relay, "alice");
  const { owner, agent, inbox } = await makeDraftWorld(relay);
  await newDraft(agent, inbox.id, LETTER);
  const approval = await newestApproval(relay);
  const claim = await claimLink(relay, owner.key, "next@example.org");
  const magic = await magicLink(relay, "new@example.org");
  const headers = { Accept: "text/html", Origin: relay.url };
  const admin = { ...headers, Cookie: await signIn(relay) };
  const { token } = approval;
  const mail = { from: "a@host.test", to: inbox.address, subject: "hi", text: "hello" };
  return [
    { path: "/inbox/sign-in", headers, fields: { token: alice.ownerToken }, status: 303 },
    { path: "/admin/sign-in", headers, fields: { token: ADMIN_TOKEN }, status: 303 },
    {
      path: "/admin/ban",
      headers: admin,
      fields: { agent: "alice", reason: "\u00e9", confirmed: "yes" },
      status: 303,
    },
    {
      path: approval.path.split("?")[0]!,
      headers,
      fields: { token, action: "approve" },
      status: 200,
    },
    { path: CLAIM_CONFIRM, headers, fields: { token: claim.token }, status: 200 },
    { path: MAGIC_CONFIRM, headers, fields: { token: magic.token, org_id: "new" }, status: 200 },
    { path: "/dev/mail", headers, fields: mail, status: 303 },
  ];
}

Deno.test("each form for people refuses what no browser sends, and takes what browsers send", async () => {
  await using relay = await startMailRelay({ config: { adminToken: ADMIN_TOKEN } });
  const doors = await openDoors(relay);
  assert.equal(doors.length, 7);
  for (const { path, headers, fields, status } of doors) {
    const post = async (body: string | Uint8Array<ArrayBuffer>, type: string | null) => {
      const sent = { ...headers, ...(type === null ? {} : { "Content-Type": type }) };
      const content = typeof body === "string" ? new TextEncoder().encode(body) : body;
      const url = `${relay.url}${path}`;
      const answer = await fetch(url, {
        method: "POST",
        headers: sent,
        body: content,
        redirect: "manual",
      });
      return { status: answer.status, text: await answer.text() };
    };
    const refuses = async (
      body: string | Uint8Array<ArrayBuffer>,
      type: string | null,
      words: RegExp,
    ) => {
      const answer = await post(body, type);
      const said = `${path} ${type} ${body.slice(0, 80)}: ${answer.text.slice(0, 400)}`;
      assert.equal(answer.status, 400, said);
      assert.match(answer.text, /invalid_json/, said);
      assert.match(answer.text, words, said);
    };
    const good = new URLSearchParams(fields).toString();
    for (const name of Object.keys(fields)) {
      await refuses(`${good}&${name}=x`, FORM, /given more than once/);
      const others = new URLSearchParams(fields);
      others.delete(name);
      for (const value of ["%zz", "a%", "%ff", "%c3%28"]) {
        await refuses(`${others}&${name}=${value}`, FORM, /percent-encoded UTF-8/);
      }
    }
    const bad = new Uint8Array([...new TextEncoder().encode(`${good}&x=`), 0xff]);
    await refuses(bad, FORM, /UTF-8/);
    await refuses(good + "&x=1".repeat(40), FORM, /at most 32 fields/);
    for (const type of [null, "text/plain", "multipart/form-data; boundary=x", `x${FORM}`]) {
      await refuses(good, type, /./);
    }
    const answer = await post(good, `${FORM.toUpperCase()}; charset=UTF-8`);
    assert.equal(answer.status, status, `${path}: ${answer.text.slice(0, 400)}`);
  }
});
