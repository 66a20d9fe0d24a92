import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { permissionFlags, WORKER_MODULES } from "../../../../server/base/config/permissions.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

async function run(flags: string[]): Promise<{ text: string; losses: string[] }> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "--no-check", ...flags, "tests/mail/reading/mime/worker_program.ts"],
    cwd: ROOT,
  }).output();
  const decoder = new TextDecoder();
  assert.notEqual(stdout.length, 0, decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout));
}

Deno.test("the mail worker runs with the flags that a relay with mail is given", async () => {
  const flags = permissionFlags({ RELAY_MAIL_DEV: "true" });
  assert.deepEqual(await run(flags), { text: "П", losses: [] });
});

Deno.test("the mail worker is told to be lost without its flag, and mail is read all the same", async () => {
  const flags = permissionFlags({});
  assert.ok(!flags.some((flag) => flag.includes(WORKER_MODULES[0]!)));
  const { text, losses } = await run(flags);
  assert.equal(text, "П");
  assert.equal(losses.length, 1);
  assert.match(losses[0]!, /read access/);
});
