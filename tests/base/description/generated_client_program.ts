/**
 * A client program over types that openapi-typescript made of a relay's description. The test puts
 * it beside them and runs it, type-checked: a description that says too little or too much fails.
 */
import createClient from "openapi-fetch";
// @ts-ignore: generated beside the copy that runs
import type { components, paths } from "./generated_api.d.ts";
import { generateKeyPair, signRequest } from "agent-relay-toolkit";

const [baseUrl] = Deno.args as [string];
const keys = generateKeyPair();

const client = createClient<paths>({
  baseUrl,
  fetch: async (request: Request) => {
    const body = new Uint8Array(await request.clone().arrayBuffer());
    const { method, url } = request;
    const timestamp = Math.floor(Date.now() / 1000);
    const path = new URL(url).pathname;
    const { headers } = signRequest({ method, path, body, timestamp }, keys.privateKey);
    for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
    return await fetch(request);
  },
});

const registered = await client.POST("/v1/register", {
  body: { handle: "generated", pubkey: keys.address },
});
if (registered.error !== undefined) throw new Error(registered.error.error.message);
const ownerToken: string = registered.data.owner_token;

const sent = await client.POST("/v1/messages", {
  body: { to: "@generated", body: { text: "from a generated client" } },
});
if (sent.error !== undefined) throw new Error(sent.error.error.message);
const id: number = sent.data.id;

const refused = await client.POST("/v1/messages", { body: { to: "nobody_here", body: null } });
const code: components["schemas"]["Error"]["error"]["code"] | undefined = refused.error?.error.code;

const inbox = await client.GET("/v1/inbox", { params: { query: { since_id: 0, limit: 10 } } });
if (inbox.error !== undefined) throw new Error(inbox.error.error.message);
const messages: components["schemas"]["InboxMessage"][] = inbox.data.messages;

const profile = await client.GET("/v1/agents/{identifier}", {
  params: { path: { identifier: "generated" } },
});
const lastSeen: string | null | undefined = profile.data?.last_seen_at;

console.log(JSON.stringify({
  id,
  code,
  hasToken: ownerToken.length > 0,
  received: messages.map((message) => ({ id: message.id, body: message.body })),
  lastId: inbox.data.last_id,
  isSeen: typeof lastSeen === "string",
}));
