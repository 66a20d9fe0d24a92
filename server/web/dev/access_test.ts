import assert from "node:assert/strict";
import { refuseStrangers } from "./access.ts";

const BASE = "https://localhost:8443";
/** What nginx, Apache, Caddy, Traefik, HAProxy, Envoy, ngrok, cloudflared, Tailscale and others add. */
const FORWARDED = [
  "Forwarded",
  "X-Forwarded-For",
  "X-Forwarded-Host",
  "X-Forwarded-Proto",
  "X-Forwarded-Port",
  "X-Forwarded-Server",
  "X-Forwarded-Prefix",
  "X-Forwarded",
  "X-Real-IP",
  "Via",
  "CF-Connecting-IP",
  "CF-Ray",
  "CDN-Loop",
  "True-Client-IP",
  "X-Client-IP",
  "X-Cluster-Client-IP",
  "Fastly-Client-IP",
  "Fly-Client-IP",
  "X-Envoy-External-Address",
  "X-Original-Forwarded-For",
  "Tailscale-User-Login",
];
const check = (headers: Record<string, string>) =>
  refuseStrangers(new Headers(headers), BASE, "the captured mail");

Deno.test("refuseStrangers() lets this machine's names and own pages in", () => {
  for (
    const host of ["localhost:8000", "LOCALHOST", "127.0.0.1:8000", "127.9.9.9", "[::1]:8000"]
  ) {
    check({ host });
    check({ host, origin: `http://${host.toLowerCase()}` });
    check({ host, origin: BASE });
  }
});

Deno.test("refuseStrangers() refuses other names, other pages and proxies", () => {
  const host = "localhost:8000";
  const refused: Record<string, string>[] = [
    {},
    { host: "" },
    { host: "relay.example" },
    { host: "localhost.evil.example" },
    { host: "127.0.0.1.evil.example" },
    { host: "10.0.0.1:8000" },
    { host: "0.0.0.0:8000" },
    { host: "user@localhost" },
    { host: "localhost:8000/x" },
    { host: "localhost, evil.example" },
    { host: "[::2]" },
    { host, origin: "null" },
    { host, origin: "" },
    { host, origin: "http://localhost:8001" },
    { host, origin: "http://127.0.0.1:8000" },
    { host, origin: "https://localhost:8000" },
    { host, origin: "http://localhost:8000.evil.example" },
    ...FORWARDED.map((name) => ({ host, [name]: "127.0.0.1" })),
    { host, "x-forwarded-for": "" },
    { host, via: "" },
  ];
  for (const headers of refused) {
    assert.throws(() => check(headers), { code: "forbidden" }, JSON.stringify(headers));
  }
});
