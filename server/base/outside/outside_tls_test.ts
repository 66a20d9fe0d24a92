import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";

/** Of smtp.test and 127.0.0.1, by an authority that nobody trusts by itself. */
const CERTIFICATES = new URL("../../../tests/base/outgoing/certificates/", import.meta.url);
const PROGRAM = new URL("../../../tests/support/post_outside_program.ts", import.meta.url);

interface Seen {
  name: string | false | null;
  protocol: string | false | null;
  text: string;
}

/** What comes of a post to each URL, in a process of its own: authorities are read when it starts. */
async function postTo(urls: readonly string[], env: Record<string, string>): Promise<unknown[]> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "-A", fileURLToPath(PROGRAM), ...urls],
    env,
  }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n");
  assert.equal(lines.length, urls.length, new TextDecoder().decode(stderr));
  return lines.map((line) => JSON.parse(line));
}

async function startTls(): Promise<{ port: number; seen: Seen[] } & AsyncDisposable> {
  const read = (name: string) => Deno.readTextFileSync(new URL(name, CERTIFICATES));
  const seen: Seen[] = [];
  const open = new Set<TLSSocket>();
  const server = createServer(
    { cert: read("server.pem"), key: read("server_key.pem"), ALPNProtocols: ["h2", "http/1.1"] },
    (socket) => {
      const record: Seen = {
        name: (socket as TLSSocket & { servername: Seen["name"] }).servername,
        protocol: socket.alpnProtocol,
        text: "",
      };
      seen.push(record);
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => open.delete(socket));
      socket.on("data", (chunk) => {
        record.text += String(chunk);
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

Deno.test("Outside.post() checks certificates by the URL's host, and sends nothing over a wrong one", async () => {
  await using server = await startTls();
  const urls = ["smtp.test", "127.0.0.1", "other.test", "localhost"]
    .map((host) => `https://${host}:${server.port}/`);
  const NODE_EXTRA_CA_CERTS = fileURLToPath(new URL("ca.pem", CERTIFICATES));
  const named = await postTo(urls, { NODE_EXTRA_CA_CERTS });
  assert.deepEqual(named, [[200, null], [200, null], [null, "tls"], [null, "tls"]]);
  const [byName, byAddress, ...others] = server.seen.filter(({ text }) => text !== "");
  assert.deepEqual([byName?.name, byName?.protocol], ["smtp.test", "http/1.1"]);
  assert.match(byAddress!.text, /^POST \/ HTTP\/1\.1\r\n/);
  assert.deepEqual(others, []);
});

Deno.test("Outside.post() trusts no authority but the runtime's, whatever the environment says", async () => {
  await using server = await startTls();
  const url = `https://smtp.test:${server.port}/`;
  assert.deepEqual(await postTo([url], { NODE_TLS_REJECT_UNAUTHORIZED: "0" }), [[null, "tls"]]);
  assert.deepEqual(server.seen.filter(({ text }) => text !== ""), []);
});

Deno.test("Outside.post() goes by no proxy, even where one is set and start-up was not heard", async () => {
  await using server = await startTls();
  await using proxy = await startTls();
  const at = `http://127.0.0.1:${proxy.port}`;
  const got = await postTo([`https://smtp.test:${server.port}/`], {
    NODE_EXTRA_CA_CERTS: fileURLToPath(new URL("ca.pem", CERTIFICATES)),
    NODE_USE_ENV_PROXY: "1",
    HTTPS_PROXY: at,
    HTTP_PROXY: at,
    ALL_PROXY: at,
  });
  assert.deepEqual([got, proxy.seen], [[[200, null]], []]);
  assert.match(server.seen[0]!.text, /^POST \/ HTTP\/1\.1\r\n/);
});
