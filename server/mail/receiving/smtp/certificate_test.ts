import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { connect as connectTls } from "node:tls";
import { connect } from "node:net";
import { ConfigError } from "../../../base/config/values.ts";
import { partOrSkip } from "../../../../tests/support/part.ts";
import { startSmtpRig } from "../../../../tests/support/smtp_rig.ts";
import { Certificate, SERVES_STARTTLS } from "./certificate.ts";

const FIXTURES = new URL("../../../../tests/base/outgoing/certificates/", import.meta.url);

/** A certificate in a folder of its own, whose files the test replaces. */
async function openRig() {
  const folder = await Deno.makeTempDir({ prefix: "relay-certificate-" });
  const files = { certFile: `${folder}/cert.pem`, keyFile: `${folder}/key.pem` };
  const logged: string[] = [];
  const use = async (cert: string, key: string) => {
    await Deno.copyFile(new URL(cert, FIXTURES), files.certFile);
    await Deno.copyFile(new URL(key, FIXTURES), files.keyFile);
  };
  await use("server.pem", "server_key.pem");
  return {
    ...files,
    logged,
    use,
    certificate: await Certificate.open(files, (event) => void logged.push(event)),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

Deno.test("Certificate.open() refuses files that are missing, broken or do not belong together", async () => {
  const at = (name: string) => new URL(name, FIXTURES).pathname;
  const cases: [cert: string, key: string, words: RegExp][] = [
    ["none.pem", "server_key.pem", /^RELAY_MAIL_TLS_CERT must name a file that the relay may read/],
    ["server.pem", "none.pem", /^RELAY_MAIL_TLS_KEY must name a file that the relay may read/],
    ["server_key.pem", "server_key.pem", /^RELAY_MAIL_TLS_CERT must name a PEM certificate chain/],
    ["server.pem", "server.pem", /^RELAY_MAIL_TLS_KEY must name a PEM private key/],
    ["ca.pem", "server_key.pem", /^RELAY_MAIL_TLS_KEY must name the key of the first certificate/],
  ];
  for (const [cert, key, words] of cases) {
    await assert.rejects(
      Certificate.open({ certFile: at(cert), keyFile: at(key) }, () => {}),
      (error) => error instanceof ConfigError && words.test(error.message),
      `${cert} and ${key}`,
    );
  }
});

Deno.test("Certificate keeps what it has where new files cannot be used, and logs each once", async () => {
  await using rig = await openRig();
  const first = await rig.certificate.current();
  await Deno.writeTextFile(rig.certFile, "-----BEGIN CERTIFICATE-----\nhalf of it");
  for (let i = 0; i < 3; i++) assert.equal(await rig.certificate.current(), first);
  assert.deepEqual(rig.logged, ["smtp_certificate_refused"]);
  await Deno.remove(rig.certFile);
  for (let i = 0; i < 3; i++) assert.equal(await rig.certificate.current(), first);
  await rig.use("ca.pem", "server_key.pem");
  assert.equal(await rig.certificate.current(), first);
  assert.equal(rig.logged.length, 3);
  await rig.use("server.pem", "server_key.pem");
  assert.notEqual(await rig.certificate.current(), first);
  assert.equal(rig.logged.at(-1), "smtp_certificate_loaded");
});

/** SHA-256 of the certificate that a handshake by STARTTLS shows, by node:tls. */
async function shownBy(port: number): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  const next = (expected: RegExp) =>
    new Promise<void>((resolve, reject) =>
      socket.once("data", (bytes) => {
        if (expected.test(Buffer.from(bytes).toString())) resolve();
        else reject(new Error(String(bytes)));
      })
    );
  await next(/^220 /);
  socket.write("EHLO c.test\r\n");
  await next(/^250-/);
  socket.write("STARTTLS\r\n");
  await next(/^220 /);
  const secure = connectTls({ socket, rejectUnauthorized: false });
  await new Promise<void>((resolve) => secure.once("secureConnect", () => resolve()));
  const { fingerprint256 } = secure.getPeerCertificate();
  secure.destroy();
  socket.destroy();
  return fingerprint256;
}

partOrSkip("openssl", "a certificate that is replaced is the next handshake's", async (openssl) => {
  if (!SERVES_STARTTLS) return;
  await using rig = await openRig();
  await using server = startSmtpRig({ certificate: rig.certificate });
  const { port } = server.listener;
  const first = await shownBy(port);
  assert.equal(await shownBy(port), first);
  const { success } = await new Deno.Command(openssl, {
    args: ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
      .concat([
        "-keyout",
        rig.keyFile,
        "-out",
        rig.certFile,
        "-days",
        "2",
        "-subj",
        "/CN=agents.test",
      ]),
    stderr: "null",
  }).output();
  assert.ok(success);
  const second = await shownBy(port);
  assert.notEqual(second, first);
  await Deno.writeTextFile(rig.keyFile, "broken");
  assert.equal(await shownBy(port), second);
  assert.deepEqual(rig.logged, ["smtp_certificate_loaded", "smtp_certificate_refused"]);
});
