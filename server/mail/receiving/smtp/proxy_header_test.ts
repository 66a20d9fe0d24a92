import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readProxyHeader } from "./proxy_header.ts";
import { netTest } from "../../../../tests/support/smtp_client.ts";
import { startSmtpRig } from "../../../../tests/support/smtp_rig.ts";
import { parseMailConfig } from "../../../base/config/mail_config.ts";

const SIGNATURE = "0d0a0d0a000d0a515549540a";
const V4 = "c0000201" + "7f000001" + "1f90" + "0019";
const V6 = "20010db8000000010000000000000007".repeat(2) + "1f900019";

/** A header: command and version, family, what follows, in hexadecimal. */
function header(command: string, family: string, rest: string): Buffer {
  const length = (rest.length / 2).toString(16).padStart(4, "0");
  return Buffer.from(`${SIGNATURE}${command}${family}${length}${rest}`, "hex");
}

Deno.test("readProxyHeader() reads TCP over both families, extensions left out, and the proxy's own", () => {
  const cases: [Buffer, string | null][] = [
    [header("21", "11", V4), "192.0.2.1"],
    [header("21", "11", `${V4}03000412345678`), "192.0.2.1"],
    [header("21", "21", V6), "2001:db8:0:1::7"],
    [header("20", "00", ""), null],
    [header("20", "11", V4), null],
  ];
  for (const [bytes, client] of cases) {
    const sizeBytes = bytes.length;
    assert.deepEqual(readProxyHeader(bytes), { sizeBytes, client });
    assert.deepEqual(readProxyHeader(Buffer.concat([bytes, Buffer.from("EHLO")])), {
      sizeBytes,
      client,
    });
    for (let length = 0; length < sizeBytes; length++) {
      assert.equal(readProxyHeader(bytes.subarray(0, length)), "more");
    }
  }
});

Deno.test("readProxyHeader() refuses what is no header of version 2 for a TCP connection", () => {
  const refused: Buffer[] = [
    Buffer.from("PROXY TCP4 192.0.2.1 127.0.0.1 8080 25\r\n"),
    Buffer.from("EHLO c.test\r\n"),
    header("11", "11", V4), // version 1 in the binary form
    header("22", "11", V4), // no such command
    header("21", "12", V4), // UDP
    header("21", "31", "00".repeat(216)), // a socket of the machine
    header("21", "00", ""), // no address at all
    header("21", "11", V4.slice(2)),
    header("21", "21", V4),
    header("21", "11", V4 + "00".repeat(2_037)),
  ];
  for (const bytes of refused) assert.equal(readProxyHeader(bytes), null, bytes.toString("hex"));
});

const { proxies } = parseMailConfig({ RELAY_MAIL_PROXY: "127.0.0.2, 127.0.1.0/24,fd00::/64" });

netTest(
  "RELAY_MAIL_PROXY's peers have to say whose connection it is, and are not counted themselves",
  async () => {
    await using rig = startSmtpRig({ proxies, bounds: { connectionsPerAddress: 1 } });
    for (const peer of ["127.0.0.2", "127.0.1.9"]) {
      using client = rig.connect(peer);
      client.send(header("21", "11", V4));
      assert.equal(await client.reply(), "220 agents.test ESMTP");
      using other = rig.connect(peer);
      other.send(header("21", "21", V6));
      assert.equal(await other.reply(), "220 agents.test ESMTP");
      using second = rig.connect(peer);
      second.send(header("21", "11", V4));
      assert.match(await second.rest(), /^421 4\.7\.0 too many connections from your address/);
      await other.begin();
      assert.match(await other.ask("."), /^250/);
      assert.equal(rig.received.at(-1)!.clientIp, "2001:db8:0:1::7");
      assert.match(
        new TextDecoder().decode(rig.received.at(-1)!.raw),
        /Received: from c\.test \(\[IPv6:2001:db8:0:1::7\]\)\r\n/,
      );
      await client.ask("QUIT");
      await other.ask("QUIT");
      await rig.untilSize(0);
    }
    using checked = rig.connect("127.0.0.2");
    checked.send(header("20", "00", ""));
    assert.equal(await checked.reply(), "220 agents.test ESMTP");
  },
);

netTest(
  "RELAY_MAIL_PROXY's peers are told nothing without a header, however it comes",
  async () => {
    await using rig = startSmtpRig({ proxies });
    for (
      const bytes of ["EHLO c.test\r\n", "PROXY TCP4 192.0.2.1 127.0.0.1 8080 25\r\n", "\r\n\r\nx"]
    ) {
      using client = rig.connect("127.0.0.2");
      client.send(bytes);
      assert.equal(await client.rest(), "");
    }
    assert.equal(rig.failures.length, 3);
    for (const failure of rig.failures) {
      assert.match(String(failure), /a peer of RELAY_MAIL_PROXY sent no PROXY header of version 2/);
    }
    using looking = rig.connect("127.0.0.2");
    looking.halfClose();
    assert.equal(await looking.rest(), "");
    assert.equal(rig.failures.length, 3);
    using slow = rig.connect("127.0.0.2");
    const bytes = header("21", "11", V4);
    for (const byte of bytes) {
      slow.send(Uint8Array.of(byte));
      await new Promise((resolve) => setTimeout(resolve));
    }
    assert.equal(await slow.reply(), "220 agents.test ESMTP");
    using silent = rig.connect("127.0.0.2");
    await rig.untilSize(2);
    rig.pass(60_000);
    assert.match(await silent.rest(), /^421 4\.4\.2 nothing came in time/);
  },
);

netTest("other peers cannot say whose connection it is", async () => {
  await using rig = startSmtpRig({ proxies });
  using client = await rig.greeted("127.0.0.3");
  client.send(header("21", "11", V4));
  assert.match(await client.rest(), /521 5\.5\.2 [^\r]*\r\n$/);
});
