// Over 300 lines: each way for a key to die, at each moment of a request.
/**
 * A key that dies while its request is under way: behind a slow body, and between the handler's last
 * look at it and the commit. Whatever route it is, the request is refused and nothing is changed.
 */
import assert from "node:assert/strict";
import { parseConfig } from "../../../server/base/config/config.ts";
import { keysKey, type KeysRecord } from "../../../server/mail/records/key_record.ts";
import { orgKey, type OrgRecord } from "../../../server/mail/records/org_record.ts";
import { EMBEDDED_CAPACITY, KV_CONNECT_CAPACITY } from "../../../server/base/storage/rows/store.ts";
import { createFakeKv, type FakeCommit } from "../../support/fake_kv.ts";
import { ADMIN_TOKEN } from "../../support/figures.ts";
import { type GoogleIssuer, startGoogleIssuer } from "../../support/google_issuer.ts";
import { findKvServer, type KvServer, startKvServer } from "../../support/kv_server.ts";
import { holdRequest } from "../../support/held_request.ts";
import { TEST_INBOUND_SECRET } from "../../support/inbound_secret.ts";
import {
  changingRoutes,
  KEY_CHANGES,
  type KeyChange,
  LETTER,
  NOBODY,
  SUPPRESSED,
  type Things,
  TOOL_CHANGES,
} from "../../support/key_changes.ts";
import { accepted, assertMailRefused, type MailKeyHolder } from "../../support/mail_caller.ts";
import { askMail, type MailAnswer, startMailRelay } from "../../support/mail_relay.ts";
import { callMail, receive } from "../../support/mail_tools.ts";
import { openMemoryKv } from "../../support/read_through.ts";
import type { TestRelay } from "../../support/relay.ts";
import { newSendingOrg } from "../../support/sending_org.ts";
import { deliveredWebhook } from "../../support/webhook_world.ts";

const MINUTE_MS = 60_000;

Deno.test("KEY_CHANGES has every route by which a key changes something", () => {
  assert.deepEqual(
    changingRoutes().toSorted(),
    [...new Set(KEY_CHANGES.map(({ route }) => route))].toSorted(),
  );
});

/** A relay that takes its store for one on a KV server, unless for its own; a test may look into its commits. */
interface World extends AsyncDisposable {
  relay: TestRelay;
  kv: Deno.Kv;
  commits: readonly FakeCommit[];
  owner: MailKeyHolder;
  things: Things;
  /** Makes the next commit of the mail area wait for something; `deny` makes it fail as by a conflict. */
  beforeNextCommit(work: () => Promise<"deny" | void>): void;
}

async function startWorld(
  issuer: GoogleIssuer,
  { exclusive = false, server }: { exclusive?: boolean; server?: KvServer } = {},
): Promise<World> {
  const kv = await (server?.open() ?? openMemoryKv());
  let armed: (() => Promise<"deny" | void>) | null = null;
  const { checks } = exclusive ? EMBEDDED_CAPACITY : KV_CONNECT_CAPACITY;
  const fake = createFakeKv({
    kv,
    maxChecks: checks,
    async intercept(commit, run) {
      if (armed === null || !changesMail(commit)) return await run();
      const work = armed;
      armed = null;
      return await work() === "deny" ? { ok: false } : await run();
    },
  });
  const mail = {
    ...parseConfig({ RELAY_MAIL_DEV: "true", ...issuer.env }).mail,
    inboundSecret: TEST_INBOUND_SECRET,
  };
  const relay = await startMailRelay({
    config: { sharedStore: !exclusive, mail, adminToken: ADMIN_TOKEN },
    limits: { mailKeysPerOrg: 1_000, mailInboxesPerOrg: 1_000 },
    relay: { capacity: exclusive ? EMBEDDED_CAPACITY : KV_CONNECT_CAPACITY },
    deps: { kv: fake },
  });
  const owner = await newSendingOrg(relay);
  const things = await makeThings(relay, kv, owner, issuer);
  return {
    relay,
    kv,
    commits: fake.commits,
    owner,
    things,
    beforeNextCommit: (work) => void (armed = work),
    async [Symbol.asyncDispose]() {
      await relay.stop();
      kv.close();
    },
  };
}

/** Whether a commit writes more than that a key was used, that a request has begun, or what it may write. */
function changesMail({ writes }: FakeCommit): boolean {
  return writes.some(({ key }) => isOfMail(key));
}

function isOfMail(key: Deno.KvKey): boolean {
  const table = String(key[0]);
  const beside = ["mail-key-used", "mail-idempotency", "mail-written"];
  return table.startsWith("mail-") && !beside.includes(table);
}

async function makeThings(
  relay: TestRelay,
  kv: Deno.Kv,
  owner: MailKeyHolder,
  issuer: GoogleIssuer,
): Promise<Things> {
  const [inbox, spare] = [await owner.inbox(), await owner.inbox()];
  await receive(relay, inbox.address);
  const list = await owner.ask("GET", `/v1/mail/inboxes/${inbox.id}/messages`);
  const [message] = accepted(list, 200).data;
  const sendAt = new Date(relay.clock.now() + 20 * 86_400_000).toISOString();
  const scheduled = await owner.ask("POST", `/v1/mail/inboxes/${inbox.id}/messages/send`, {
    body: { ...LETTER, send_at: sendAt },
  });
  const draft = await owner.ask("POST", `/v1/mail/inboxes/${inbox.id}/drafts`, { body: LETTER });
  const { orgId } = owner;
  const createdAtMs = relay.clock.now();
  const suppression = { v: 1, reason: "hard_bounce", messageId: message.id, createdAtMs };
  await kv.set(["mail-suppression", orgId, SUPPRESSED], suppression);
  await kv.set(["mail-suppression-order", orgId, createdAtMs, SUPPRESSED], { v: 1 });
  return {
    inbox: inbox.id,
    spareInbox: spare.id,
    message: message.id,
    thread: message.thread_id,
    scheduled: accepted(scheduled, 202).id,
    draft: accepted(draft, 201).id,
    spareKey: (await owner.newKey({ name: "spare" })).id,
    ...await deliveredWebhook(relay, owner, NOBODY),
    orgId,
    idToken: await issuer.token(relay.clock.now()),
  };
}

/** A way for a key to die, as done by another process with the same clock. */
interface Death {
  code: "unknown_key" | "org_suspended" | "expired_key" | "trial_expired";
  /** @returns brings back what others need */
  kill(world: World, keyId: string): Promise<() => Promise<unknown>>;
}

const DEATHS: Record<string, Death> = {
  "is deleted": {
    code: "unknown_key",
    async kill({ kv, owner: { orgId } }, keyId) {
      const { value } = await kv.get<KeysRecord>(keysKey(orgId));
      const keys = value!.keys.filter(({ id }) => id !== keyId);
      await kv.set(keysKey(orgId), { ...value, keys });
      return () => Promise.resolve();
    },
  },
  "expires": {
    code: "expired_key",
    kill({ relay }) {
      relay.clock.advance(MINUTE_MS);
      return Promise.resolve(() => Promise.resolve());
    },
  },
  "is of an org that is suspended": {
    code: "org_suspended",
    kill: (world) => changeOrg(world, { suspendedAtMs: 1 }),
  },
  "is of a trial that ends": {
    code: "trial_expired",
    kill: (world) => changeOrg(world, { trialEndsAtMs: world.relay.clock.now() - 1 }),
  },
};

async function changeOrg({ kv, owner }: World, changes: Partial<OrgRecord>) {
  const key = orgKey(owner.orgId);
  const { value } = await kv.get<OrgRecord>(key);
  await kv.set(key, { ...value, ...changes });
  return () => kv.set(key, value);
}

/** All rows but those that say when a key was used, who works, which requests are under way, and what they wrote. */
async function storedRows(kv: Deno.Kv): Promise<string[]> {
  const rows: string[] = [];
  for await (const { key, value } of kv.list({ prefix: [] })) {
    if (isOfMail(key)) rows.push(Deno.inspect([key, value], { depth: Infinity }));
  }
  return rows;
}

/** A new key of the org that expires in a minute. */
async function shortKey({ relay, owner }: World): Promise<{ id: string; holder: MailKeyHolder }> {
  const expires_at = new Date(relay.clock.now() + MINUTE_MS).toISOString();
  const { id, api_key } = await owner.newKey({ name: "short", expires_at });
  return { id, holder: owner.with(api_key) };
}

/** A request whose body is held back; the function that it returns sends the rest and gives the answer. */
async function begin(
  relay: TestRelay,
  { key }: MailKeyHolder,
  { route, path, body, headers = {} }: KeyChange,
  things: Things,
): Promise<() => Promise<MailAnswer>> {
  const finish = await holdRequest(relay, {
    method: route.split(" ")[0]!,
    path: path(things),
    headers: { ...headers, Authorization: `Bearer ${key}` },
    body: JSON.stringify(body!(things)),
  });
  return async () => {
    const { status = 0, body = "" } = await finish() ?? {};
    return { status, headers: new Headers(), body: body === "" ? "" : JSON.parse(body) };
  };
}

Deno.test("a key that dies before its request is committed changes nothing, on any route", async (t) => {
  await using issuer = await startGoogleIssuer();
  await using world = await startWorld(issuer);
  const { relay, kv, owner, things } = world;
  const dieBehindBody = ({ code, kill }: Death) => async () => {
    const slow = KEY_CHANGES.filter(({ body, route }) =>
      body !== undefined && !(code === "trial_expired" && route.endsWith("/attach"))
    );
    assert.ok(slow.length > 12);
    for (const change of slow) {
      const { id, holder } = await shortKey(world);
      const finish = await begin(relay, holder, change, things);
      // It has been let in: what it waits for is the rest of its body.
      accepted(await owner.readOrg(), 200);
      const restore = await kill(world, id);
      const before = await storedRows(kv);
      const answer = await finish();
      assert.equal(answer.body?.error?.code, code, `${change.route} ${answer.status}`);
      assertMailRefused(answer, code);
      assert.deepEqual(await storedRows(kv), before, change.route);
      await restore();
    }
  };
  const dieAfterLook = ({ code, kill }: Death) => async () => {
    const dieBeforeCommit = (keyId: string) => {
      const died = Promise.withResolvers<{ rows: string[]; restore: () => Promise<unknown> }>();
      world.beforeNextCommit(async () => {
        const restore = await kill(world, keyId);
        died.resolve({ rows: await storedRows(kv), restore });
        return code === "expired_key" ? "deny" : undefined;
      });
      return died.promise;
    };
    const refuse = async (told: string, ask: (holder: MailKeyHolder) => Promise<string>) => {
      const { id, holder } = await shortKey(world);
      const died = dieBeforeCommit(id);
      const answered = ask(holder);
      // Without a commit it would wait for ever.
      const first = await Promise.race([died, answered]);
      assert.ok(typeof first !== "string", `${told} answered ${String(first)} without a commit`);
      assert.equal(await answered, code, told);
      assert.deepEqual(await storedRows(kv), first.rows, told);
      await first.restore();
    };
    for (const { route, path, body, headers } of KEY_CHANGES) {
      if (code === "trial_expired" && route.endsWith("/attach")) continue;
      await refuse(route, async (holder) => {
        const answer = await holder.ask(route.split(" ")[0]!, path(things), {
          ...(headers === undefined ? {} : { headers }),
          ...(body === undefined ? {} : { body: body(things) }),
        });
        return answer.body?.error?.code ?? `${answer.status} ${JSON.stringify(answer.body)}`;
      });
    }
    for (const [tool, args] of Object.entries(TOOL_CHANGES)) {
      await refuse(tool, async (holder) => {
        const { error, text } = await callMail(holder, tool, args(things));
        return error?.code ?? text;
      });
    }
  };
  for (const [how, death] of Object.entries(DEATHS)) {
    const told = `a key that ${how}`;
    await t.step(`${told} while a body is on its way`, dieBehindBody(death));
    const after = "between the last look at it and the commit";
    await t.step(`${told} ${after}`, dieAfterLook(death));
  }
});

Deno.test("a key that is deleted, or whose org is suspended, by the API while a body is on its way changes nothing, on a store of one's own", async () => {
  await using issuer = await startGoogleIssuer();
  await using world = await startWorld(issuer, { exclusive: true });
  const { relay, kv, owner, things } = world;
  const suspend = async (verb: "suspend" | "unsuspend") => {
    const path = `/v1/admin/mail/orgs/${owner.orgId}/${verb}`;
    accepted(await askMail(relay.url, "POST", path, { key: ADMIN_TOKEN }), 200);
  };
  const slow = KEY_CHANGES.filter(({ body }) => body !== undefined);
  assert.ok(slow.length > 12);
  for (const change of slow) {
    const { id, holder } = await shortKey(world);
    const [first, second] = [
      await begin(relay, holder, change, things),
      await begin(relay, holder, change, things),
    ];
    await suspend("suspend");
    const suspended = await storedRows(kv);
    assertMailRefused(await first(), "org_suspended");
    assert.deepEqual(await storedRows(kv), suspended, change.route);
    await suspend("unsuspend");
    accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${id}`), 204);
    const deleted = await storedRows(kv);
    assertMailRefused(await second(), "unknown_key");
    assert.deepEqual(await storedRows(kv), deleted, change.route);
  }
});

Deno.test("with a key that lives each request of KEY_CHANGES is accepted, within the ten checks of a KV server", () =>
  acceptKeyChanges());

const kvServer = findKvServer();
Deno.test({
  name: "with a key that lives a KV server takes each request of KEY_CHANGES (needs denokv)",
  ignore: kvServer === null,
  fn: async () => {
    await using server = await startKvServer(kvServer!);
    await acceptKeyChanges(server);
  },
});

async function acceptKeyChanges(server?: KvServer): Promise<void> {
  await using issuer = await startGoogleIssuer();
  await using world = await startWorld(issuer, { server });
  const { owner, things } = world;
  const lists = { allow_send: ["a.test"], allow_receive: ["b.test"], block_receive: ["c.test"] };
  accepted(await owner.createInbox({ client_id: "again" }), 201);
  accepted(await owner.createInbox({ client_id: "again", ...lists }), 200);
  let done = 0;
  for (const { route, path, body, headers, status } of KEY_CHANGES) {
    const answer = await owner.ask(route.split(" ")[0]!, path(things), {
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body: body(things) }),
    });
    // The draft was sent by then.
    if (route === "DELETE /v1/mail/drafts/{id}") assertMailRefused(answer, "not_found");
    else accepted(answer, status);
    done++;
  }
  assert.equal(done, KEY_CHANGES.length);
  const full = world.commits.filter(({ checks }) => checks.length === 10);
  assert.ok(full.length >= 1, "none stands at the bound");
}
