import assert from "node:assert/strict";
import { parseConfig } from "./config.ts";
import { startupNotes } from "./startup_notes.ts";

const FACTS = {
  address: "http://127.0.0.1:8000",
  pid: 42,
  version: "0.2.1",
  store: "embedded file ./data/relay.kv, exclusive",
};

const notes = (env: Record<string, string>) => startupNotes(parseConfig(env), FACTS).join("\n");

Deno.test("startupNotes() tells address, pid, store and why parts are off", () => {
  const text = notes({});
  assert.match(text, /^relay 0\.2\.1 listening on http:\/\/127\.0\.0\.1:8000\n/);
  assert.match(text, /pid +42 /);
  assert.match(text, /store +embedded file \.\/data\/relay\.kv, exclusive/);
  assert.match(text, /admin +off: RELAY_ADMIN_TOKEN is unset/);
  assert.match(text, /RELAY_BASE_URL is unset/);
  assert.match(text, /digests +off: RELAY_SMTP_URL, RELAY_MAIL_FROM are unset/);
  assert.match(text, /X-Forwarded-For is ignored/);
  assert.ok(!text.includes("is recommended"));
});

Deno.test("startupNotes() recommends key proof for a relay that others reach", () => {
  const hosted = { RELAY_KV_URL: "https://kv.example", DENO_KV_ACCESS_TOKEN: "kv-secret" };
  for (const env of [hosted, { RELAY_BASE_URL: "https://relay.example" }]) {
    assert.match(notes(env), /RELAY_REQUIRE_KEY_PROOF=true is recommended/);
    assert.match(notes({ ...env, RELAY_REQUIRE_KEY_PROOF: "true" }), /key proof +required/);
  }
});

Deno.test("startupNotes() tells no secret", () => {
  const env = {
    RELAY_KV_URL: "https://kv.example",
    DENO_KV_ACCESS_TOKEN: "kv-secret",
    RELAY_SMTP_URL: "smtp://me:hunter2@mail.example",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "mail.example.org",
    RELAY_ADMIN_TOKEN: "admin-secret-admin-secret-admin-secret",
  };
  const text = notes(env);
  assert.match(text, /admin +on/);
  for (const secret of ["hunter2", "kv-secret", "admin-secret"]) assert.ok(!text.includes(secret));
});
