import assert from "node:assert/strict";
import { parseConfig } from "../config/config.ts";
import { ehloName, openMailer } from "./open_mailer.ts";

const OUTBOUND = { RELAY_SMTP_URL: "smtp://127.0.0.1:25", RELAY_MAIL_FROM: "r@example.org" };

Deno.test("openMailer() opens none without RELAY_SMTP_URL or RELAY_MAIL_FROM", async () => {
  for (const missing of ["RELAY_SMTP_URL", "RELAY_MAIL_FROM"]) {
    const env: Record<string, string> = { ...OUTBOUND };
    delete env[missing];
    assert.equal(await openMailer(parseConfig(env)), undefined);
  }
  assert.notEqual(await openMailer(parseConfig(OUTBOUND)), undefined);
});

Deno.test("ehloName() is the mail domain, else the host of links, else the sender's domain", () => {
  const links = { RELAY_BASE_URL: "https://relay.example.net" };
  const name = (more: Record<string, string>) => ehloName(parseConfig({ ...OUTBOUND, ...more }));
  assert.equal(name({ ...links, RELAY_MAIL_DOMAIN: "mail.example.com" }), "mail.example.com");
  assert.equal(name(links), "relay.example.net");
  assert.equal(name({ RELAY_BASE_URL: "http://10.0.0.7:8000" }), "example.org");
  assert.equal(name({ RELAY_BASE_URL: "http://localhost:8000" }), "example.org");
  assert.equal(name({ RELAY_BASE_URL: "http://[::1]:8000" }), "example.org");
});
