/** Requests whose body comes after the key that they began with has been deleted. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused, newOrg } from "../support/mail_caller.ts";
import { startMailRelay } from "../support/mail_relay.ts";
import { connectRaw } from "../support/raw_http.ts";
import type { TestRelay } from "../support/relay.ts";

/** Sends a request but for its body; the function that it returns sends that and gives the answer. */
async function begin(relay: TestRelay, key: string, method: string, path: string, body: unknown) {
  const connection = await connectRaw(relay.port);
  const text = JSON.stringify(body);
  const arrived = relay.nextRequests();
  const head = [
    `${method} ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${key}`,
    `Content-Length: ${text.length}`,
    "Connection: close",
  ];
  const bytes = (part: string) => new TextEncoder().encode(part);
  await connection.send(bytes(`${head.join("\r\n")}\r\n\r\n${text[0]}`));
  await arrived;
  return async () => {
    using closing = connection;
    await closing.send(bytes(text.slice(1)));
    const answer = await closing.answer();
    return {
      status: answer!.status,
      headers: new Headers(),
      body: JSON.parse(answer!.body || "{}"),
    };
  };
}

Deno.test("a key deleted while a body is on its way makes no key and erases no org", async () => {
  await using relay = await startMailRelay();
  const owner = await newOrg(relay);
  const leaked = await owner.newKey({ name: "leaked" });
  const spare = await owner.newKey({ name: "spare" });
  const making = await begin(relay, leaked.api_key, "POST", "/v1/mail/api-keys", { name: "k" });
  const erasing = await begin(relay, leaked.api_key, "DELETE", "/v1/mail/org", {
    org_id: owner.orgId,
  });
  // Both have been let in: what they wait for is the rest of their bodies.
  accepted(await owner.readOrg(), 200);
  accepted(await owner.ask("DELETE", `/v1/mail/api-keys/${leaked.id}`), 204);
  const answers = [await making(), await erasing()];
  for (const answer of answers) assertMailRefused(answer, "unknown_key");
  const { data } = accepted(await owner.ask("GET", "/v1/mail/api-keys"), 200);
  assert.equal(data.length, 2);
  accepted(await owner.with(spare.api_key).readOrg(), 200);
});
