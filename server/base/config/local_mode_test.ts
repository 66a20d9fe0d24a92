import assert from "node:assert/strict";
import { ConfigError, parseConfig } from "./config.ts";

const LOCAL = { RELAY_MAIL_DEV: "true" };

Deno.test("parseConfig() takes local mode on this machine's own addresses, in a folder of its own", () => {
  const config = parseConfig(LOCAL);
  assert.deepEqual([config.mail.local, config.dataDir], [true, "./data-mail"]);
  assert.equal(parseConfig({}).dataDir, "./data");
  assert.equal(parseConfig({ ...LOCAL, RELAY_DATA_DIR: "/srv/x" }).dataDir, "/srv/x");
  for (const HOST of ["localhost", "LocalHost", "127.0.0.2", "::1", "[::1]"]) {
    assert.equal(parseConfig({ ...LOCAL, HOST }).mail.local, true, HOST);
  }
  for (const url of ["http://localhost:9", "https://127.0.0.1:8443", "http://[::1]:8000"]) {
    assert.equal(parseConfig({ ...LOCAL, RELAY_BASE_URL: url }).mail.local, true, url);
  }
  assert.equal(parseConfig({ ...LOCAL, RELAY_MAIL_LISTEN: "[::1]:2525" }).mail.listen?.host, "::1");
});

Deno.test("parseConfig() refuses in local mode what would open it to others or hand mail out", () => {
  const kv = { RELAY_KV_URL: "https://kv.example", DENO_KV_ACCESS_TOKEN: "kv-secret-token" };
  const refused: [Record<string, string>, string, RegExp][] = [
    [{ HOST: "0.0.0.0" }, "HOST", /be this machine's own address/],
    [{ HOST: "::" }, "HOST", /be this machine's own address/],
    [{ HOST: "relay.example" }, "HOST", /be this machine's own address/],
    [{ RELAY_BASE_URL: "https://relay.example" }, "RELAY_BASE_URL", /be unset, or name this/],
    [{ RELAY_BASE_URL: "http://127.example.org" }, "RELAY_BASE_URL", /be unset, or name this/],
    [{ RELAY_SMTP_URL: "smtp://me:hunter2@mail.example" }, "RELAY_SMTP_URL", /be unset/],
    [kv, "RELAY_KV_URL", /be unset/],
    [{ RELAY_TRUSTED_PROXY_HOPS: "1" }, "RELAY_TRUSTED_PROXY_HOPS", /be 0/],
    [{ RELAY_MAIL_LISTEN: "0.0.0.0:2525" }, "RELAY_MAIL_LISTEN", /be unset, or this machine's own/],
    [{ DENO_DEPLOY: "1" }, "RELAY_MAIL_DEV", /unset on Deno Deploy/],
  ];
  for (const [env, variable, rule] of refused) {
    assert.throws(() => parseConfig({ ...LOCAL, ...env }), (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.equal(error.variable, variable);
      assert.match(error.message, rule);
      assert.match(error.message, /RELAY_MAIL_DEV/);
      assert.doesNotMatch(error.message, /hunter2|kv-secret|\.example/);
      return true;
    });
    assert.equal(parseConfig({ RELAY_MAIL_DEV: "false", ...env }).mail.local, false);
  }
});
