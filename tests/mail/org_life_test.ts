import assert from "node:assert/strict";
import { askMail, registerOrg, startMailRelay } from "../support/mail_relay.ts";

Deno.test("an org from registration to deletion", async () => {
  await using relay = await startMailRelay();
  const { orgId, apiKey: key } = await registerOrg(relay);
  const org = await askMail(relay.url, "GET", "/v1/mail/org", { key });
  assert.equal(org.status, 200);
  assert.equal(org.body.org_id, orgId);
  const inbox = await askMail(relay.url, "POST", "/v1/mail/inboxes", {
    key,
    body: { local_part: "Bob", allow_send: ["x.org"] },
  });
  assert.equal(inbox.status, 201, JSON.stringify(inbox.body));
  assert.equal(inbox.body.address, "bob@agents.test");
  const list = await askMail(relay.url, "GET", "/v1/mail/inboxes", { key });
  assert.equal(list.body.data.length, 1);
  const got = await askMail(relay.url, "GET", "/v1/mail/inboxes/bob%40agents.test", { key });
  assert.deepEqual(got.body, inbox.body);
  const made = await askMail(relay.url, "POST", "/v1/mail/api-keys", {
    key,
    body: { name: "one", scope: "inbox", inbox_id: inbox.body.id },
  });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const keys = await askMail(relay.url, "GET", "/v1/mail/api-keys?limit=1", { key });
  assert.equal(keys.body.data.length, 1);
  const next = await askMail(
    relay.url,
    "GET",
    `/v1/mail/api-keys?limit=1&cursor=${keys.body.next_cursor}`,
    { key },
  );
  assert.equal(next.body.data[0].id, made.body.id);
  assert.equal(
    (await askMail(relay.url, "DELETE", `/v1/mail/inboxes/${inbox.body.id}`, { key })).status,
    204,
  );
  assert.equal(
    (await askMail(relay.url, "GET", `/v1/mail/inboxes`, { key: made.body.api_key })).status,
    401,
  );
  assert.equal(
    (await askMail(relay.url, "DELETE", "/v1/mail/org", { key, body: { org_id: orgId } })).status,
    204,
  );
  assert.equal((await askMail(relay.url, "GET", "/v1/mail/org", { key })).status, 401);
});
