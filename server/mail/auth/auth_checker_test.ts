import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { AuthChecker } from "./auth_checker.ts";
import { createDnsClient } from "./dns_client.ts";
import { startAuthWorker } from "./start_auth_worker.ts";
import { startScriptedDns } from "../../../tests/support/dns_server.ts";

Deno.test("smoke", async () => {
  await using dns = startScriptedDns({ "TXT example.org": { TXT: ["v=spf1 ip4:192.0.2.1 -all"] } });
  const losses: unknown[] = [];
  const checker = new AuthChecker({
    dns: createDnsClient({ servers: [dns.server], onFailure: (f) => losses.push(f) }),
    start: startAuthWorker,
    onLoss: (f) => losses.push(f),
    now: Date.now,
  });
  const t = performance.now();
  const auth = await checker.check(new TextEncoder().encode("From: a@example.org\r\n\r\nhello\r\n"), { clientIp: "192.0.2.1", helo: "mx.example.org", envelopeFrom: "a@example.org" });
  console.log(auth, performance.now() - t, losses, dns.asked);
  checker.close();
});
