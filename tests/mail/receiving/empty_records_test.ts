/** TLS that brings nothing takes no time of the relay's. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { Certificate, SERVES_STARTTLS } from "../../../server/mail/receiving/smtp/certificate.ts";
import { pythonOrSkip } from "../../support/python_program.ts";
import { startSmtpRig } from "../../support/smtp_rig.ts";

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

if (SERVES_STARTTLS) {
  await pythonOrSkip(
    pathOf("../../base/description/python_example_requirements.txt"),
    ["cryptography"],
    "SmtpSession ends with TLS records that hold nothing, without an end",
    async (run) => {
      const tls = {
        certFile: pathOf("../../base/outgoing/certificates/server.pem"),
        keyFile: pathOf("../../base/outgoing/certificates/server_key.pem"),
      };
      await using rig = startSmtpRig({ certificate: await Certificate.open(tls, () => {}) });
      const { stdout, stderr } = await run([pathOf("empty_records.py"), String(rig.listener.port)]);
      assert.equal(stdout.trim(), "ended", stderr);
    },
  );
}
