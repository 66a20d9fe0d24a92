import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { permissionFlags } from "../../server/config/permissions.ts";
import { runCommand } from "../gate/run_command.ts";
import { startScriptedSmtp } from "../support/scripted_smtp.ts";

const pathOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

Deno.test("createSmtpMailer() reaches a next hop by its name with no more than the permissions of a start", async () => {
  await using smtp = startScriptedSmtp();
  const url = `smtp://localhost:${smtp.port}`;
  const flags = permissionFlags({ RELAY_SMTP_URL: url, RELAY_MAIL_FROM: "relay@example.org" });
  assert.ok(flags.some((flag) => flag.endsWith(`,localhost:${smtp.port}`)));
  const config = `--config=${pathOf("../../deno.json")}`;
  const { output } = await runCommand(
    [
      Deno.execPath(),
      "run",
      "--quiet",
      "--no-lock",
      config,
      ...flags,
      pathOf("send_one_mail.ts"),
      String(smtp.port),
    ],
    { cwd: pathOf("./"), env: { NO_COLOR: "1" } },
  );
  assert.equal(JSON.parse(output).result, "sent", output);
  assert.equal(smtp.contents.length, 1);
});
