import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { permissionFlags } from "../../../server/base/config/permissions.ts";
import { runCommand } from "../../gate/run_command.ts";
import { startScriptedSmtp } from "../../support/scripted_smtp.ts";

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const pem = (name: string) => pathOf(`certificates/${name}.pem`);

/** Sends a mail in a process that has the permissions of a start with these settings. */
async function sendWith(
  settings: Record<string, string>,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ result: string }> {
  const flags = permissionFlags({ RELAY_MAIL_FROM: "relay@example.org", ...settings });
  const config = `--config=${pathOf("../../../deno.json")}`;
  const program = pathOf("send_one_mail.ts");
  const { output } = await runCommand(
    [Deno.execPath(), "run", "--quiet", "--no-lock", config, ...flags, program, ...args],
    { cwd: pathOf("./"), env: { NO_COLOR: "1", ...env } },
  );
  return JSON.parse(output);
}

Deno.test("createSmtpMailer() reaches a next hop by its name with no more than the permissions of a start", async () => {
  await using smtp = startScriptedSmtp();
  const args = ["localhost", String(smtp.port)];
  const outcome = await sendWith({ RELAY_SMTP_URL: `smtp://localhost:${smtp.port}` }, args);
  assert.equal(outcome.result, "sent", JSON.stringify(outcome));
  assert.equal(smtp.contents.length, 1);
});

/** Reaches this machine by an address that does not count as loopback: its certificate is checked. */
const ANOTHER_HOST = "0.0.0.0";

for (
  const [name, file, runtimeTrusts, result] of [
    ["the authority of RELAY_SMTP_CA", "ca", null, "sent"],
    ["another authority than that of RELAY_SMTP_CA", "other_ca", null, "refused"],
    [
      "an authority that the runtime trusts by itself, besides RELAY_SMTP_CA",
      "other_ca",
      "ca",
      "sent",
    ],
  ] as const
) {
  Deno.test(`a next hop whose certificate rests on ${name}: ${result}`, async () => {
    const [key, cert] = await Promise.all(
      ["server_key", "server"].map((each) => Deno.readTextFile(pem(each))),
    );
    await using smtp = startScriptedSmtp({ key: key!, cert: cert! });
    const settings = {
      RELAY_SMTP_URL: `smtps://${ANOTHER_HOST}:${smtp.port}`,
      RELAY_SMTP_CA: pem(file),
    };
    // The authorities of the runtime, with one that the test's next hop rests on.
    const env: Record<string, string> = runtimeTrusts === null
      ? {}
      : { DENO_CERT: pem(runtimeTrusts) };
    const outcome = await sendWith(settings, [ANOTHER_HOST, String(smtp.port), pem(file)], env);
    assert.equal(outcome.result, result, JSON.stringify(outcome));
    assert.equal(smtp.contents.length, result === "sent" ? 1 : 0);
  });
}
