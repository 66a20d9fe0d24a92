import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parseConfig } from "./config.ts";
import type { Environment } from "./config_error.ts";
import { DECIDING_SETTINGS, permissionFlags, WORKER_MODULES } from "./permissions.ts";
import { SETTING_NAMES } from "./setting_names.ts";

/** The values of one flag; undefined where the flag is not given. */
function given(env: Environment, name: string): string[] | undefined {
  const flag = permissionFlags(env).find((each) => each.startsWith(`--allow-${name}=`));
  return flag?.slice(flag.indexOf("=") + 1).split(",");
}

const MAIL = {
  RELAY_SMTP_URL: "smtp://mail.example",
  RELAY_MAIL_FROM: "relay@example.org",
  RELAY_MAIL_DOMAIN: "mail.example.org",
};

const WORKER_PROGRAMS = [
  "base/blobs/blob_writer_program.ts",
  "mail/receiving/sender_checks/auth_worker.ts",
  "mail/worker/mail_worker_program.ts",
  "web/dev/read_program.ts",
];

Deno.test("permissionFlags() without settings: the listener, .env and the data folder", () => {
  assert.deepEqual(permissionFlags({}), [
    "--no-prompt",
    "--allow-read=.env,data",
    "--allow-write=data",
    `--allow-env=${SETTING_NAMES.join(",")}`,
    "--allow-net=127.0.0.1:8000",
    "--allow-sys=hostname,statfs",
  ]);
});

Deno.test("permissionFlags() opens the files that settings name, and writes to the data folder alone", () => {
  const env = { RELAY_DATA_DIR: "/srv/my data", RELAY_SMTP_CA: "/etc/ca.pem" };
  assert.deepEqual(given(env, "read"), [".env", "/srv/my data", "/etc/ca.pem"]);
  assert.deepEqual(given(env, "write"), ["/srv/my data"]);
  // No flag of Deno can name such a path; an empty one beside the comma would stop the runtime.
  const comma = { RELAY_DATA_DIR: "/a,b" };
  assert.deepEqual([given(comma, "read"), given(comma, "write")], [[".env"], undefined]);
});

Deno.test("permissionFlags() reaches the listener, in every spelling of a host", () => {
  const cases: [Environment, string][] = [
    [{ HOST: "0.0.0.0", PORT: "80" }, "0.0.0.0:80"],
    [{ HOST: "::1" }, "[::1]:8000"],
    [{ HOST: "[::]", PORT: "9" }, "[::]:9"],
    [{ HOST: "relay.example", PORT: "0" }, "relay.example"],
  ];
  for (const [env, net] of cases) assert.deepEqual(given(env, "net"), [net]);
});

Deno.test("permissionFlags() reaches the next hop where outbound mail is on", () => {
  const from = { RELAY_MAIL_FROM: "relay@example.org" };
  const net = (url: string) => given({ ...from, RELAY_SMTP_URL: url }, "net")!.slice(1);
  assert.deepEqual(net("smtp://mail.example"), ["mail.example:587"]);
  assert.deepEqual(net("smtps://me:secret@mail.example"), ["mail.example:465"]);
  assert.deepEqual(net("smtp://[::1]:25"), ["[::1]:25"]);
  assert.equal(given({ RELAY_SMTP_URL: "smtp://mail.example" }, "net")!.length, 1);
});

Deno.test("permissionFlags() reaches a KV server and the hosts of its data, and then no folder", () => {
  const env = { RELAY_KV_URL: "https://kv.example/x", RELAY_KV_HOSTS: "a.example, b.example:8443" };
  assert.deepEqual(given(env, "net")!.slice(1), [
    "kv.example:443",
    "a.example:443",
    "b.example:8443",
  ]);
  assert.deepEqual(given(env, "read"), [".env"]);
  assert.equal(given(env, "write"), undefined);
  assert.equal(given({ RELAY_KV_HOSTS: "a.example" }, "net")!.length, 1);
});

Deno.test("permissionFlags() reaches the keys of Google where mail and sign-in with Google are on", () => {
  const mail = { ...MAIL, RELAY_WEBHOOKS: "false" };
  const on = { ...mail, RELAY_GOOGLE_CLIENT_ID: "id.apps.example" };
  const net = (env: Environment) => given(env, "net")!.slice(2);
  assert.deepEqual(net(on), ["www.googleapis.com:443"]);
  assert.deepEqual(net({ ...on, RELAY_GOOGLE_JWKS_URL: "http://127.0.0.1:9/x" }), ["127.0.0.1:9"]);
  assert.deepEqual(net({ ...on, RELAY_GOOGLE_JWKS_URL: "https://k.example" }), ["k.example:443"]);
  assert.deepEqual(net({ ...on, RELAY_GOOGLE_JWKS_URL: "nonsense" }), []);
  assert.deepEqual(net({ ...mail, RELAY_GOOGLE_JWKS_URL: "https://k.example" }), []);
  assert.deepEqual(net({ ...on, RELAY_MAIL_DOMAIN: "" }), []);
  const local = {
    RELAY_MAIL_DEV: "true",
    RELAY_GOOGLE_CLIENT_ID: "id.apps.example",
    RELAY_WEBHOOKS: "false",
  };
  assert.deepEqual(given(local, "net"), [
    "127.0.0.1:8000",
    "127.0.0.1:0",
    "www.googleapis.com:443",
  ]);
});

Deno.test("permissionFlags() leaves the mail area's hosts out while it is off", () => {
  const env = {
    RELAY_GOOGLE_CLIENT_ID: "id.apps.example",
    RELAY_MAIL_LISTEN: "0.0.0.0:25",
    RELAY_DNS_SERVERS: "10.0.0.1:53",
    RELAY_GOOGLE_JWKS_URL: "https://keys.example",
  };
  assert.deepEqual(given(env, "net"), ["127.0.0.1:8000"]);
});

Deno.test("permissionFlags() listens for SMTP where mail is on: as set, in local mode at a free port", () => {
  const on = {
    RELAY_SMTP_URL: "smtp://mail.example",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "mail.example.org",
    RELAY_DNS_SERVERS: "10.0.0.1:53",
    RELAY_WEBHOOKS: "false",
  };
  const others = ["127.0.0.1:8000", "mail.example:587", "10.0.0.1:53", "[::]:0"];
  const listening = (env: Environment) => given(env, "net")!.filter((one) => !others.includes(one));
  assert.deepEqual(listening(on), []);
  assert.deepEqual(listening({ ...on, RELAY_MAIL_LISTEN: "0.0.0.0:25" }), ["0.0.0.0:25"]);
  assert.deepEqual(listening({ ...on, RELAY_MAIL_LISTEN: "[::]:25" }), ["[::]:25"]);
  const local = { RELAY_MAIL_DEV: "true", RELAY_WEBHOOKS: "false" };
  assert.deepEqual(listening(local), ["127.0.0.1:0"]);
  assert.deepEqual(listening({ ...local, RELAY_MAIL_LISTEN: "127.0.0.1:2525" }), [
    "127.0.0.1:2525",
  ]);
});

Deno.test("permissionFlags() reads the modules of the workers where mail is on, and no more", async () => {
  const on = MAIL;
  assert.deepEqual(given(on, "read"), [".env", "data", ...WORKER_MODULES, "/etc/resolv.conf"]);
  assert.deepEqual(given({ ...on, RELAY_MAIL_DOMAIN: "" }, "read"), [".env", "data"]);
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const programs = WORKER_PROGRAMS.map((program) => `${root}server/${program}`);
  const needed = (await Promise.all(programs.map(modulesOf))).flat();
  for (const program of programs) assert.ok(needed.includes(program), program);
  const folders = WORKER_MODULES.map((folder) => `${root}${folder}/`);
  assert.deepEqual(
    needed.filter((module) => !folders.some((folder) => module.startsWith(folder))),
    [],
  );
  for (const folder of folders) {
    assert.ok(needed.some((module) => module.startsWith(folder)), `nothing needs ${folder}`);
  }
});

Deno.test("permissionFlags() reaches the DNS servers of the setting, else those of the system, where mail is on", () => {
  const on = { ...MAIL, RELAY_WEBHOOKS: "false" };
  const resolvConf = "# by dhcp\nsearch lan\nnameserver 10.0.0.1\n nameserver\tfd00::1 # two\n" +
    "nameserver fe80::1%eth0\nnameserver evil.example\nnameserver 10.0.0.3,evil.example\n";
  const flags = (env: Environment, name: string) => {
    const found = permissionFlags(env, resolvConf).find((flag) =>
      flag.startsWith(`--allow-${name}=`)
    );
    return found!.slice(found!.indexOf("=") + 1).split(",");
  };
  // The last is where answers over UDP come: any free port.
  assert.deepEqual(flags(on, "net").slice(2), ["10.0.0.1:53", "[fd00::1]:53", "[::]:0"]);
  const own = { ...on, RELAY_DNS_SERVERS: "192.0.2.1, 127.0.0.1:5353,[::1]:54,[::2], *,x y" };
  assert.deepEqual(flags(own, "net").slice(2), [
    "192.0.2.1:53",
    "127.0.0.1:5353",
    "[::1]:54",
    "[::2]:53",
    "[::]:0",
  ]);
  const byTcp = { ...on, RELAY_DNS_SERVERS: "tcp:192.0.2.1,tcp:[::1]:54,tcp:::2" };
  assert.deepEqual(flags(byTcp, "net").slice(2), ["192.0.2.1:53", "[::1]:54", "[::2]:53"]);
  assert.deepEqual(flags(own, "read"), [".env", "data", ...WORKER_MODULES]);
  for (
    const off of [{ ...on, RELAY_MAIL_FROM: "" }, {
      RELAY_MAIL_DEV: "true",
      RELAY_WEBHOOKS: "false",
    }]
  ) {
    assert.ok(!flags({ ...off, RELAY_SMTP_URL: "" }, "net").includes("10.0.0.1:53"));
    assert.ok(!flags(off, "read").includes("/etc/resolv.conf"));
  }
});

Deno.test("permissionFlags() reaches no host beyond its settings where webhooks or mail are off, or malformed", () => {
  const off: Environment[] = [
    { ...MAIL, RELAY_WEBHOOKS: "false" },
    { ...MAIL, RELAY_WEBHOOKS: "yes" },
    { ...MAIL, RELAY_MAIL_DOMAIN: "" },
    { RELAY_ALLOW_LOOPBACK_WEBHOOKS: "true" },
    { RELAY_WEBHOOKS: "true" },
    { RELAY_MAIL_DEV: "true" },
  ];
  for (const env of off) {
    assert.ok(given(env, "net")!.length > 0, JSON.stringify(env));
    assert.ok(permissionFlags(env).every((flag) => !/^--deny|^--allow-net$/.test(flag)));
  }
});

/** Paths of the project's modules that a program loads, types left out. */
async function modulesOf(program: string): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", program],
  }).output();
  const { modules, roots } = JSON.parse(new TextDecoder().decode(stdout)) as {
    roots: string[];
    modules: { specifier: string; dependencies?: { code?: { specifier?: string } }[] }[];
  };
  const loaded = new Set(roots);
  for (const specifier of loaded) {
    const found = modules.find((module) => module.specifier === specifier);
    for (const { code } of found?.dependencies ?? []) {
      if (code?.specifier?.startsWith("file:") === true) loaded.add(code.specifier);
    }
  }
  return [...loaded].map((specifier) => fileURLToPath(specifier));
}

Deno.test("permissionFlags() has no next hop in local mode, and a folder of its own", () => {
  const local = {
    RELAY_MAIL_DEV: "true",
    RELAY_SMTP_URL: "smtp://mail.example",
    RELAY_MAIL_FROM: "relay@example.org",
  };
  assert.deepEqual(given(local, "net"), ["127.0.0.1:8000", "127.0.0.1:0", "127.0.0.1", "[::1]"]);
  for (const variable of ["RELAY_WEBHOOKS", "RELAY_ALLOW_LOOPBACK_WEBHOOKS"]) {
    assert.deepEqual(given({ ...local, [variable]: "false" }, "net"), [
      "127.0.0.1:8000",
      "127.0.0.1:0",
    ]);
  }
  assert.deepEqual(given(local, "write"), ["data-mail"]);
  assert.deepEqual(given(local, "read"), [".env", "data-mail", ...WORKER_MODULES]);
  assert.deepEqual(given({ ...local, RELAY_DATA_DIR: "/srv/x" }, "write"), ["/srv/x"]);
  assert.deepEqual(given({ ...local, RELAY_MAIL_DEV: "false" }, "write"), ["data"]);
});

Deno.test("permissionFlags() gives nothing for what start-up refuses, never everything", () => {
  for (const HOST of ["*", "a b", "a,evil.example", "::1,evil", "http://x"]) {
    assert.equal(given({ HOST }, "net"), undefined, HOST);
  }
  assert.equal(given({ PORT: "99999" }, "net"), undefined);
  assert.deepEqual(given({ RELAY_KV_URL: "nonsense" }, "net"), ["127.0.0.1:8000"]);
});

Deno.test("the unit file of docs/operations.md has the flags of its settings", async () => {
  const text = await Deno.readTextFile(new URL("../../../docs/operations.md", import.meta.url));
  const [, line] = /^ExecStart=\S+ run (.*) server\/main\.ts$/m.exec(text)!;
  assert.equal(line, permissionFlags({ RELAY_DATA_DIR: "/var/lib/relay" }).join(" "));
});

/** Settings that tell what was asked of them. */
function recording(env: Environment): { asked: Set<string>; env: Environment } {
  const asked = new Set<string>();
  const get = (target: Environment, name: string) => {
    asked.add(name);
    return target[name];
  };
  return { asked, env: new Proxy(env, { get: get as ProxyHandler<Environment>["get"] }) };
}

Deno.test("SETTING_NAMES has every variable that parseConfig() reads, and DECIDING_SETTINGS what the flags rest on", () => {
  const whole = {
    RELAY_KV_URL: "https://kv.example",
    DENO_KV_ACCESS_TOKEN: "token",
    RELAY_SMTP_URL: "smtp://mail.example",
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "mail.example.org",
    RELAY_GOOGLE_CLIENT_ID: "id.apps.example",
  };
  const parsed = [recording({}), recording(whole)];
  for (const { env } of parsed) parseConfig(env);
  assert.deepEqual(
    parsed.flatMap(({ asked }) => [...asked]).filter((name) => !SETTING_NAMES.includes(name)),
    [],
  );
  const read = new Set(parsed.flatMap(({ asked }) => [...asked]));
  assert.deepEqual(SETTING_NAMES.filter((name) => !read.has(name)), []);

  const decided = [recording({}), recording(whole)];
  for (const { env } of decided) permissionFlags(env);
  const deciding = new Set(decided.flatMap(({ asked }) => [...asked]));
  assert.deepEqual([...deciding].sort(), DECIDING_SETTINGS);
});

Deno.test("permissionFlags() lets workers lower their priority where mail is on", () => {
  assert.deepEqual(given({ RELAY_MAIL_DEV: "true" }, "sys"), ["hostname", "statfs"]);
  assert.deepEqual(given({}, "sys"), ["hostname", "statfs"]);
});
