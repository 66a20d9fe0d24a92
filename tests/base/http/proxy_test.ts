/** A relay behind the proxies of docs/operations.md, configured as they stand there. */
import assert from "node:assert/strict";
import { ask, assertStatus } from "../../support/answer.ts";
import { delay } from "../../support/pace.ts";
import { partOrSkip } from "../../support/part.ts";
import { startTestRelay, type TestRelay } from "../../support/relay.ts";
import { errorCode, exchange } from "../../support/raw_http.ts";
import { registerAgent } from "../../support/test_agent.ts";

const DOCUMENT = new URL("../../../docs/operations.md", import.meta.url);

/** The block of the document in a language, without the lines that a test cannot have. */
async function documented(language: "nginx" | "caddy"): Promise<string> {
  const text = await Deno.readTextFile(DOCUMENT);
  const block = new RegExp("```" + language + "\\n([^`]*)```").exec(text)?.[1];
  assert.ok(block !== undefined, `docs/operations.md has no block for ${language}`);
  return block;
}

function replaceOnce(text: string, what: string, by: string): string {
  assert.equal(text.split(what).length, 2, `"${what}" does not stand once in the documented block`);
  return text.replace(what, by);
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}

interface Proxy {
  program: string;
  args: string[];
  env?: Record<string, string>;
}

/** Runs a proxy until the test of it ends. */
async function throughProxy(
  makeProxy: (ports: { own: number; relay: number }, folder: string) => Promise<Proxy>,
): Promise<void> {
  const own = freePort();
  await using relay = await startTestRelay({
    config: { trustedProxyHops: 1 },
    clockStartMs: "real",
    limits: { registrationsPerIpPerHour: 3 },
  });
  const folder = await Deno.makeTempDir({ prefix: "relay-proxy-" });
  const { program, args, env } = await makeProxy({ own, relay: relay.port }, folder);
  const child = new Deno.Command(program, { args, env, stdout: "null", stderr: "piped" }).spawn();
  const complaints = new Response(child.stderr).text();
  try {
    await untilItAnswers(own, child, complaints);
    await drive(relay, own);
  } finally {
    try {
      child.kill("SIGTERM");
    } catch {
      // It has ended already.
    }
    await child.status;
    await complaints;
    await Deno.remove(folder, { recursive: true });
  }
}

async function untilItAnswers(
  port: number,
  child: Deno.ChildProcess,
  complaints: Promise<string>,
): Promise<void> {
  let hasEnded = false;
  child.status.then(() => hasEnded = true);
  for (let attempt = 0; attempt < 300 && !hasEnded; attempt++) {
    try {
      const { status } = await ask(`http://127.0.0.1:${port}/health`);
      if (status === 200) return;
    } catch {
      // It does not listen yet.
    }
    await delay(100);
  }
  child.kill("SIGKILL");
  throw new Error(`the proxy does not answer: ${await complaints}`);
}

async function drive(relay: TestRelay, port: number): Promise<void> {
  const proxied = { ...relay, url: `http://127.0.0.1:${port}`, port };
  const alice = await registerAgent(proxied, "alice_1");
  const bob = await registerAgent(proxied, "bob_1");

  // A waiting poll ends with the message; both cross the proxy.
  const arrived = relay.nextRequests();
  const waiting = bob.call("GET", "/v1/inbox", { query: "wait=25" });
  await arrived;
  await alice.sent({ to: "@bob_1", body: "through" });
  const { json } = await waiting;
  assert.equal(json.messages[0].body, "through");

  // The path arrives as it was sent and signed.
  assertStatus(await ask(`${proxied.url}/v1/agents/%40alice_1`), 200);
  for (const path of ["//v1/agents", "/v1//agents", "/v1/%61gents"]) {
    const answer = await exchange(port, `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    assert.equal(answer?.status, 404, path);
  }

  // Host passed on: the tool server answers to the relay's name, and to no other.
  const call = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const tools = { method: "POST", body: JSON.stringify(call) };
  assert.equal((await ask(`${proxied.url}/mcp`, tools)).status, 200);
  const strange = await exchange(
    port,
    `POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: ${tools.body.length}\r\n\r\n${tools.body}`,
  );
  assert.equal(errorCode(strange), "forbidden");
  // The largest body of the tool server gets through, the relay's own refusal of a larger one comes back.
  const wide = (bytes: number) => ({ method: "POST", body: " ".repeat(bytes) });
  assert.equal((await ask(`${proxied.url}/mcp`, wide(512 * 1024))).status, 400);
  const tooLarge = await ask(`${proxied.url}/mcp`, wide(512 * 1024 + 1));
  assert.equal(tooLarge.json.error.code, "payload_too_large");

  // What a client claims of its address is not believed: these three are one client.
  const claimed = (address: string) =>
    ask(`${proxied.url}/v1/register`, {
      method: "POST",
      headers: { "X-Forwarded-For": address },
      body: JSON.stringify({ handle: `x_${address.length}`, pubkey: alice.address }),
    });
  assert.equal((await claimed("192.0.2.1")).status, 409);
  await registerAgent(proxied, "carol_1");
  assert.equal((await claimed("192.0.2.77")).status, 429);
}

partOrSkip("nginx", "the nginx block of docs/operations.md serves a relay", async (program) => {
  const block = await documented("nginx");
  await throughProxy(async (ports, folder) => {
    let server = replaceOnce(block, "listen 443 ssl;", `listen 127.0.0.1:${ports.own};`);
    server = replaceOnce(server, "127.0.0.1:8000", `127.0.0.1:${ports.relay}`)
      .replace(/^ *ssl_certificate.*\n/gm, "");
    const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    const folders = kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join("\n");
    // Started by root it would give up root, and not reach its folder any more.
    const user = Deno.uid() === 0 ? "user root;\n" : "";
    const whole = `${user}daemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\n` +
      `http {\naccess_log off;\n${folders}\n${server}}\n`;
    await Deno.writeTextFile(`${folder}/nginx.conf`, whole);
    return { program, args: ["-p", folder, "-c", `${folder}/nginx.conf`, "-e", "stderr"] };
  });
});

partOrSkip("caddy", "the caddy block of docs/operations.md serves a relay", async (program) => {
  const block = await documented("caddy");
  await throughProxy(async (ports, folder) => {
    let server = replaceOnce(
      block,
      "relay.example.org {",
      `http://:${ports.own} {\nbind 127.0.0.1`,
    );
    server = replaceOnce(server, "127.0.0.1:8000", `127.0.0.1:${ports.relay}`);
    server = server.replace("{\n", "{\nadmin off\n");
    await Deno.writeTextFile(`${folder}/Caddyfile`, server);
    return {
      program,
      args: ["run", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"],
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    };
  });
});
