import assert from "node:assert/strict";
import { parseConfig } from "../base/config/config.ts";
import { whyMailIsOff } from "./mail_switch.ts";

const ON = {
  RELAY_SMTP_URL: "smtp://127.0.0.1:25",
  RELAY_MAIL_FROM: "relay@example.org",
  RELAY_MAIL_DOMAIN: "mail.example.org",
};
const RING = { primaryId: "0123456789abcdef" };
const HOSTED = { RELAY_KV_URL: "https://kv.example", DENO_KV_ACCESS_TOKEN: "kv-secret" };

Deno.test("whyMailIsOff() names every setting that is missing", () => {
  assert.equal(whyMailIsOff(parseConfig(ON), RING), null);
  assert.equal(
    whyMailIsOff(parseConfig({}), RING),
    "RELAY_SMTP_URL, RELAY_MAIL_FROM, RELAY_MAIL_DOMAIN are unset",
  );
  for (const variable of Object.keys(ON)) {
    const { [variable as keyof typeof ON]: _, ...rest } = ON;
    assert.equal(whyMailIsOff(parseConfig(rest), RING), `${variable} is unset`);
  }
});

Deno.test("whyMailIsOff() asks for a custody key, of a hosted relay above all", () => {
  const none = { primaryId: null };
  assert.match(whyMailIsOff(parseConfig(ON), none)!, /no custody key is configured/);
  assert.match(whyMailIsOff(parseConfig({ ...ON, ...HOSTED }), none)!, /needs RELAY_CUSTODY_KEY/);
  assert.match(
    whyMailIsOff(parseConfig(ON), RING, "fedcba9876543210")!,
    /under custody key fedcba9876543210, which is not configured/,
  );
});

Deno.test("whyMailIsOff() lets local mode do without a next hop", () => {
  assert.equal(whyMailIsOff(parseConfig({ RELAY_MAIL_DEV: "true" }), RING), null);
});
