/** The commands of docs/mail.md that set up a mail domain, run as they stand there. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../server/base/config/config.ts";
import { parseEnvFile } from "../../server/base/config/env_file.ts";
import { dkimRecord, readDkimKey } from "../../toolkit/node/dkim_key.ts";
import { startScriptedDns } from "../support/dns_server.ts";
import { examplesOf, runExample } from "../support/document_examples.ts";
import { partOrSkip } from "../support/part.ts";

const MAIN = fileURLToPath(new URL("../../toolkit/cli/main.ts", import.meta.url));
const DOMAIN = "agents.example.org";

partOrSkip("openssl", "the commands of docs/mail.md make a DKIM key and check DNS", async () => {
  const folder = await Deno.makeTempDir({ prefix: "relay-examples-" });
  try {
    const [makeKey, checkDns, ...others] = await examplesOf("Setting it up");
    assert.equal(others.length, 0);
    await runExample(makeKey!, { cwd: folder, env: {} });
    assert.equal((await Deno.stat(`${folder}/dkim.pem`)).mode! & 0o077, 0, "nobody else reads it");
    const pem = await Deno.readTextFile(`${folder}/dkim.pem`);
    const settings = parseEnvFile(await Deno.readTextFile(`${folder}/relay.env`));
    const { dkim } = parseConfig(settings).mail;
    assert.deepEqual(dkim, { privateKeyPem: readDkimKey(pem), selector: "relay1" });

    await using dns = startScriptedDns({
      [`MX ${DOMAIN}`]: { MX: ["10 mx.example.org"] },
      "A mx.example.org": { A: ["192.0.2.25"] },
      [`TXT ${DOMAIN}`]: { TXT: ["v=spf1 include:spf.example.net ~all"] },
      [`TXT relay1._domainkey.${DOMAIN}`]: { TXT: [dkimRecord(pem)] },
      [`TXT _dmarc.${DOMAIN}`]: { TXT: ["v=DMARC1; p=none; rua=mailto:dmarc@example.org"] },
    });
    const { host, port } = dns.server;
    const [heading, command] = checkDns!;
    const installed = `relay() { "${Deno.execPath()}" run -qA "${MAIN}" "$@"; }\n`;
    const said = await runExample([heading, installed + command], {
      cwd: folder,
      env: { RELAY_DNS_SERVERS: `${host}:${port}` },
    });
    const verdicts = said.split("\n").filter((line) => /^\S/.test(line));
    assert.deepEqual(
      verdicts,
      ["MX", "Address", "SPF", "DKIM", "DMARC"].map((title) => `${title}: fine`),
    );
    assert.ok(!said.includes(settings["RELAY_MAIL_DKIM_KEY"]!.slice(100, 160)));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
