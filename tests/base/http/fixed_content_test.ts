/** What stays the same while the relay runs: tags, 304 and gzip of the description and the pages. */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { DEFAULT_LIMITS } from "../../../server/base/config/limits.ts";
import { ICON, LIVE_SCRIPT, STYLESHEET } from "../../../server/base/pages/asset_files.ts";
import { ROUTES } from "../../../server/routes.ts";
import { startTestRelay } from "../../support/relay.ts";
import { connectRaw } from "../../support/raw_http.ts";

/** What stands in a path for its parameters. */
const PARAMETERS: Record<string, readonly string[]> = {
  "/assets/{file}": [LIVE_SCRIPT.path, STYLESHEET.path, ICON.path],
  "/docs/{file}": ["/docs/start", "/docs/start.md"],
  "/docs/{folder}/{file}": ["/docs/try/swagger-ui.css", "/docs/try/try.js"],
};

const SETTING = { baseUrl: "http://relay.test", limits: DEFAULT_LIMITS, mailOn: false };

/** Each path that the description has 304 of, and what is accepted: / alone answers by that. */
const PATHS: [string, string][] = [["/", "application/json"], ["/", "text/html"]];
for (const { path, describe } of ROUTES) {
  if (path === "/" || !(304 in describe(SETTING).answers)) continue;
  for (const one of PARAMETERS[path] ?? [path]) PATHS.push([one, "*/*"]);
}

/** fetch() would unpack what is compressed. */
async function get(port: number, path: string, headers: Record<string, string>, method = "GET") {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const lines = Object.entries({ Host: "127.0.0.1", Connection: "close", ...headers });
  const head = `${method} ${path} HTTP/1.1\r\n${lines.map(([n, v]) => `${n}: ${v}\r\n`).join("")}`;
  await connection.write(new TextEncoder().encode(`${head}\r\n`));
  const bytes = await readUntilWhole(connection, method);
  connection.close();
  return bytes;
}

async function readUntilWhole(connection: Deno.TcpConn, method: string) {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const chunk = new Uint8Array(65_536);
  for (;;) {
    const size = await connection.read(chunk);
    if (size !== null) pieces.push(chunk.slice(0, size));
    const all = new Uint8Array(await new Blob(pieces).arrayBuffer());
    const text = new TextDecoder("latin1").decode(all);
    const end = text.indexOf("\r\n\r\n");
    if (end < 0 && size !== null) continue;
    const [statusLine, ...lines] = text.slice(0, end).split("\r\n");
    const headers = new Headers(lines.map((line) => line.split(/: (.*)/, 2) as [string, string]));
    const status = Number(statusLine!.split(" ")[1]);
    const bodyBytes = method === "HEAD" ? 0 : Number(headers.get("content-length") ?? 0);
    if (size !== null && all.length < end + 4 + bodyBytes) continue;
    return { status, headers, body: all.subarray(end + 4) };
  }
}

Deno.test("fixed content is sent compressed to who takes gzip, with a tag for each representation", async () => {
  await using relay = await startTestRelay();
  assert.ok(PATHS.length >= 18);
  for (const [path, accept] of PATHS) {
    const plain = await get(relay.port, path, { Accept: accept });
    const zipped = await get(relay.port, path, { Accept: accept, "Accept-Encoding": "br, gzip" });
    assert.deepEqual([plain.status, zipped.status], [200, 200], path);
    assert.equal(plain.headers.get("content-encoding"), null);
    assert.equal(zipped.headers.get("content-encoding"), "gzip");
    assert.deepEqual(new Uint8Array(gunzipSync(zipped.body)), new Uint8Array(plain.body), path);
    assert.notEqual(plain.headers.get("etag"), zipped.headers.get("etag"));
    for (const { headers } of [plain, zipped]) {
      const vary = headers.get("vary")!.split(", ");
      assert.ok(vary.includes("Accept-Encoding"), path);
      assert.equal(vary.includes("Accept"), path === "/");
    }
    const refused = await get(relay.port, path, { Accept: accept, "Accept-Encoding": "gzip;q=0" });
    assert.equal(refused.headers.get("content-encoding"), null);
    const head = await get(relay.port, path, { Accept: accept }, "HEAD");
    assert.equal(head.headers.get("etag"), plain.headers.get("etag"));
    assert.equal(head.headers.get("content-length"), String(plain.body.length));
  }
});

Deno.test("fixed content is 304 without a body to who has it, weakened tags and lists included", async () => {
  await using relay = await startTestRelay();
  assert.ok(PATHS.length >= 18);
  for (const [path, accept] of PATHS) {
    const { headers } = await get(relay.port, path, { Accept: accept });
    const tag = headers.get("etag")!;
    for (const have of [tag, `W/${tag}`, `"x", ${tag}`, "*"]) {
      for (const method of ["GET", "HEAD"]) {
        const again = await get(
          relay.port,
          path,
          { Accept: accept, "If-None-Match": have },
          method,
        );
        assert.deepEqual([again.status, again.body.length], [304, 0], `${path} ${have}`);
        assert.equal(again.headers.get("etag"), tag);
        assert.notEqual(again.headers.get("vary"), null);
      }
    }
    const other = await get(relay.port, path, { Accept: accept, "If-None-Match": '"x", y' });
    assert.equal(other.status, 200);
  }
});

Deno.test("a 304 leaves the connection open for the next request", async () => {
  await using relay = await startTestRelay();
  using connection = await connectRaw(relay.port);
  for (let i = 0; i < 2; i++) {
    await connection.send("GET /openapi.json HTTP/1.1\r\nHost: h\r\nIf-None-Match: *\r\n\r\n");
    assert.equal((await connection.answer(true))?.status, 304);
  }
});
