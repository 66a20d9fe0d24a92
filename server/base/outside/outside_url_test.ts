import assert from "node:assert/strict";
import { RelayError } from "../errors.ts";
import { requireOutsideUrl, type UrlRules } from "./outside_url.ts";

const PUBLIC: UrlRules = { allowLoopback: false, local: false };
const OPEN: UrlRules = { allowLoopback: true, local: false };
const LOCAL: UrlRules = { allowLoopback: true, local: true };

/** Hosts by which people have reached what they should not: public lists of SSRF bypasses. */
const PRIVATE_HOSTS = [
  // This machine: decimal, octal, hexadecimal, short, mixed, padded, with digits of other scripts.
  ...["127.0.0.1", "127.1", "127.0.1", "2130706433", "017700000001", "0x7f000001", "0x7f.1"],
  ...["0177.0.0.1", "0177.1", "0x7f.0x0.0x0.0x1", "0x7f.0.0.1", "0177.0x0.0.1", "127.0.0.01"],
  ...["00000177.0.0.1", "0x0000007f.1", "127.127.127.127", "127.255.255.254", "127.0.0.1."],
  ...["%31%32%37.0.0.1", "127%2e0%2e0%2e1", "127。0。0。1", "127．0．0．1", "①②⑦.⓪.⓪.①"],
  ...["１２７.0.0.1", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "0", "0.0.0.0", "0x0", "00", "0.1", "0.0.0.0."],
  ...["localhost", "LOCALHOST", "localhost.", "ⓛocalhost", "loc%61lhost", "a.localhost"],
  ...["a.b.localhost", "x.localhost.", "localhost.localdomain.local", "LocalHost.Local"],
  // Metadata services of clouds, and the relay's network.
  ...["169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518"],
  ...["0xa9.0xfe.0xa9.0xfe", "169.16689662", "169.254.170.2", "169.254.0.1", "100.100.100.200"],
  ...["168.63.129.16", "0xa83f8110", "192.0.0.192", "metadata", "metadata.google.internal"],
  ...["metadata.google.internal.", "instance-data.ec2.internal", "METADATA.GOOGLE.INTERNAL"],
  ...["10.0.0.1", "10.1", "0xa000001", "012.0.0.1", "167772161", "172.16.0.1", "172.31.255.255"],
  ...["0xac100001", "2886729729", "192.168.0.1", "0xc0a80001", "3232235521", "0300.0250.0.1"],
  ...["100.64.0.1", "100.127.255.255", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1"],
  ...["192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "0xffffffff"],
  ...[
    "4294967295",
    "router",
    "intranet.",
    "kubernetes",
    "db.internal",
    "printer.local",
    "nas.local.",
  ],
  ...["kubernetes.default.svc.cluster.local", "host.docker.internal", "gateway.docker.internal"],
  // IPv6, and IPv4 inside of it: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
  ...["[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::]", "[0::0]", "[::ffff:127.0.0.1]"],
  ...["[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]", "[::127.0.0.1]", "[::7f00:1]"],
  ...["[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::169.254.169.254]", "[::ffff:0:7f00:1]"],
  ...[
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::10.0.0.1]",
    "[64:ff9b::808:808]",
  ],
  ...["[2002:7f00:1::]", "[2002:a9fe:a9fe::1]", "[2002:c0a8:1::]", "[2001:0:4136:e378::1]"],
  ...["[2001::1]", "[2001:2::1]", "[2001:10::1]", "[2001:20::1]", "[2001:db8::1]", "[3fff::1]"],
  ...[
    "[fe80::1]",
    "[fe80::5efe:10.0.0.1]",
    "[febf::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd00:ec2::254]",
  ],
  ...["[fd20:ce::254]", "[ff02::1]", "[ff0e::1]", "[100::1]", "[5f00::1]", "[::ffff:8.8.8.8]"],
];

/** What is no URL to post to, whatever its host. */
const REFUSED_URLS = [
  ...["", " ", "https", "https:", "https://", "//example.com/", "example.com", "/hook", "?"],
  ...["http://example.com/", "HTTP://example.com", "ftp://example.com/", "file:///etc/passwd"],
  ...["gopher://example.com/_x", "dict://example.com/", "data:,x", "javascript:alert(1)"],
  ...["ws://example.com", "wss://example.com", "blob:https://example.com/x", "https:example.com"],
  ...[
    "https:\\\\example.com",
    "https:/example.com",
    "https:///example.com",
    "https://\\example.com",
  ],
  ...["https://user@example.com/", "https://user:pw@example.com/", "https://:pw@example.com/"],
  ...[
    "https://example.com@127.0.0.1/",
    "https://127.0.0.1:80@example.com/",
    "https://%40@example.com",
  ],
  ...["https://example.com/#", "https://example.com/#f", "https://example.com#@127.0.0.1/"],
  ...[
    "https://127.0.0.1#@example.com/",
    "https://127.0.0.1?@example.com/",
    "https://example.com:0/",
  ],
  ...["https://example.com:65536/", "https://example.com:-1/", "https://example.com:x/"],
  ...[" https://example.com/", "https://example.com/ ", "https://exa\tmple.com/", "https://a.b/\n"],
  ...["https://exam\r\nple.com/", "https://example.com/a b", "https://example.com\\@127.0.0.1/"],
  ...[
    "https://example.com./",
    "https://example..com/",
    "https://.example.com/",
    "https://-a.example/",
  ],
  ...[
    "https://a-.example/",
    "https://*.example.com/",
    "https://a,b.example/",
    "https://a!b.example/",
  ],
  ...[
    "https://[::1%25lo]/",
    "https://[fe80::1%25eth0]/",
    "https://[fe80::1%eth0]/",
    "https://[::1/",
  ],
  ...["https://[]/", "https://[127.0.0.1]/", "https://1.2.3.4.5/", "https://256.256.256.256/"],
  ...["https://0x100000000/", "https://4294967296/", "https://example.com\u0000.local/"],
  ...[`https://${"a".repeat(64)}.example/`, `https://${"a.".repeat(130)}example/`],
];

function refusal(text: string, rules: UrlRules): string | null {
  try {
    requireOutsideUrl(text, rules);
    return null;
  } catch (error) {
    assert.ok(error instanceof RelayError && error.code === "invalid_json", String(error));
    return error.message;
  }
}

Deno.test("requireOutsideUrl() refuses every host of lists of SSRF bypasses, with words", () => {
  const urls = PRIVATE_HOSTS.flatMap((host) => [`https://${host}/`, `https://${host}:8443/x?y`]);
  assert.ok(PRIVATE_HOSTS.length + REFUSED_URLS.length >= 200);
  const taken = [...urls, ...REFUSED_URLS].filter((url) => refusal(url, PUBLIC) === null);
  assert.deepEqual(taken, []);
  assert.equal(
    refusal("https://10.0.0.1/", PUBLIC),
    "url has an address that is not public; it must be an https:// address of a public host, such as " +
      "https://example.com/hook, of at most 2048 characters, without user, password and fragment",
  );
});

Deno.test("requireOutsideUrl() takes public hosts on any port, as the parser spells them", () => {
  const taken = [
    ["https://example.com", "https://example.com/"],
    ["https://example.com:8443/hook?a=b", "https://example.com:8443/hook?a=b"],
    ["HTTPS://EXAMPLE.COM:443/H", "https://example.com/H"],
    ["https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"],
    ["https://a_b.example-1.co.uk/", "https://a_b.example-1.co.uk/"],
    ["https://8.8.8.8/", "https://8.8.8.8/"],
    ["https://0x08080808/", "https://8.8.8.8/"],
    ["https://[2606:4700:0::1111]:1/", "https://[2606:4700::1111]:1/"],
    ["https://localhost.example.com/", "https://localhost.example.com/"],
    ["https://127.0.0.1.nip.io/", "https://127.0.0.1.nip.io/"],
  ];
  for (const [text, href] of taken) assert.equal(requireOutsideUrl(text!, PUBLIC).href, href);
});

Deno.test("requireOutsideUrl() takes 2,048 characters, with what escapes add", () => {
  const base = "https://example.com/";
  assert.equal(refusal(base + "a".repeat(2_048 - base.length), PUBLIC), null);
  assert.match(refusal(base + "a".repeat(2_049 - base.length), PUBLIC)!, /^url is too long; /);
  assert.match(refusal(base + "ü".repeat(500), PUBLIC)!, /^url is too long, its escapes included/);
});

Deno.test("requireOutsideUrl() opens loopback alone where the setting says so, http included", () => {
  const loopback = [
    "http://127.0.0.1:9/",
    "https://127.1/",
    "http://localhost/x",
    "http://[::1]:9/",
  ];
  for (const url of [...loopback, "http://127.9.9.9:65535/", "https://localhost:9/"]) {
    assert.equal(refusal(url, OPEN), null, url);
    assert.equal(refusal(url, LOCAL), null, url);
    assert.notEqual(refusal(url, PUBLIC), null, url);
  }
  const loopbackHost = /^(?:\[::1\]|127(?:\.\d+){3}|localhost)$/;
  const others = PRIVATE_HOSTS.flatMap((host) => [`https://${host}/`, `http://${host}/`])
    .filter((url) => !URL.canParse(url) || !loopbackHost.test(new URL(url).hostname));
  assert.ok(others.length > 200);
  const refused = [...others, "http://localhost./", "http://a.localhost/", "http://u@127.0.0.1/"];
  assert.deepEqual(
    [
      ...refused,
      "http://127.0.0.1/#f",
      "http://8.8.8.8/",
      "http://example.com/",
      "ftp://127.0.0.1/",
    ]
      .filter((url) => refusal(url, OPEN) === null || refusal(url, LOCAL) === null),
    [],
  );
});

Deno.test("requireOutsideUrl() in local mode takes nothing that leaves this machine", () => {
  assert.equal(
    refusal("https://example.com/", LOCAL),
    "url leaves this machine, which nothing does in local mode; it must be the http:// or https:// " +
      "address of a server on this machine, such as http://127.0.0.1:9000/hook, of at most 2048 " +
      "characters, without user, password and fragment",
  );
  assert.notEqual(refusal("https://8.8.8.8/", LOCAL), null);
  assert.notEqual(refusal("http://127.0.0.1/", { allowLoopback: false, local: true }), null);
});
