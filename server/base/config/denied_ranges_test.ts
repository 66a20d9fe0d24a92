import assert from "node:assert/strict";
import type { Environment } from "./config_error.ts";
import { deniedRanges } from "./denied_ranges.ts";
import { permissionFlags } from "./permissions.ts";

const MAIL = {
  RELAY_SMTP_URL: "smtp://mail.example",
  RELAY_MAIL_FROM: "relay@example.org",
  RELAY_MAIL_DOMAIN: "mail.example.org",
};

/** What may be reached where everything may: the blocks that are denied. */
function denied(env: Environment, resolvConf = ""): string[] {
  const flags = permissionFlags(env, resolvConf).filter((flag) =>
    /^--(?:allow|deny)-net/.test(flag)
  );
  assert.equal(flags[0], "--allow-net");
  assert.ok(flags.length <= 2);
  return flags[1]?.replace("--deny-net=", "").split(",") ?? [];
}

const NAMED_NOWHERE = [
  "0.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "224.0.0.0/4",
];

Deno.test("permissionFlags() denies webhooks the private blocks that no host of the settings needs", () => {
  // The listener, the next hop and DNS at addresses: their blocks stay open, all others are denied.
  const addresses = {
    ...MAIL,
    RELAY_SMTP_URL: "smtp://10.1.2.3:25",
    RELAY_DNS_SERVERS: "192.168.0.1,[fd00::1]:53",
  };
  assert.deepEqual(denied(addresses), [
    "0.0.0.0/8",
    "100.64.0.0/10",
    "168.63.129.16/32",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "198.18.0.0/15",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "[::1]",
  ]);
  const resolvConf = "nameserver 169.254.20.10\nnameserver 168.63.129.16\n";
  const public_ = { ...MAIL, RELAY_SMTP_URL: "smtp://192.0.2.1", HOST: "0.0.0.0" };
  const open = denied(public_, resolvConf);
  for (const range of ["0.0.0.0/8", "169.254.0.0/16", "168.63.129.16/32"]) {
    assert.ok(!open.includes(range), range);
  }
  assert.ok(open.includes("127.0.0.0/8") && open.includes("10.0.0.0/8") && open.includes("[::1]"));
  const looped = denied({ ...public_, RELAY_ALLOW_LOOPBACK_WEBHOOKS: "true" }, resolvConf);
  assert.deepEqual(open.filter((range) => !looped.includes(range)), ["127.0.0.0/8", "[::1]"]);
  // A name may be at any address that some network gives names.
  assert.deepEqual(denied(MAIL), NAMED_NOWHERE);
  const localhost = denied({ ...addresses, RELAY_SMTP_URL: "smtp://localhost" });
  assert.ok(!localhost.includes("[::1]") && localhost.includes("10.0.0.0/8"));
  const mapped = { ...addresses, RELAY_SMTP_URL: "smtp://[::ffff:169.254.1.1]" };
  assert.deepEqual(denied(mapped), []);
});

Deno.test("deniedRanges() leaves open the block of every spelling of an address", () => {
  const all = deniedRanges(["192.0.2.1", "[2001:db8::1]:53"]);
  assert.equal(all.length, 13);
  const cases: [string, string[]][] = [
    ["10.255.255.255:53", ["10.0.0.0/8"]],
    ["100.127.255.255", ["100.64.0.0/10"]],
    ["172.31.0.1:25", ["172.16.0.0/12"]],
    ["198.19.0.1", ["198.18.0.0/15"]],
    ["167772161:25", ["10.0.0.0/8"]],
    ["[0:0:0:0:0:0:0:1]:80", ["[::1]"]],
    ["LOCALHOST:8000", ["127.0.0.0/8", "[::1]"]],
    ["172.32.0.1", []],
    ["11.0.0.1", []],
  ];
  for (const [host, open] of cases) {
    const denied = deniedRanges([host]);
    assert.deepEqual(all.filter((range) => !denied.includes(range)), open, host);
  }
  assert.deepEqual(deniedRanges(["[::a00:1]:53"]), []);
});
