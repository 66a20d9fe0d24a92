import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { permissionFlags } from "../../../server/base/config/permissions.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

Deno.test("the blob writer runs with the flags that a relay with mail is given", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    const root = join(dataDir, "mail");
    await Deno.mkdir(root);
    const flags = permissionFlags({ RELAY_MAIL_DEV: "true", RELAY_DATA_DIR: dataDir });
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "--no-check", ...flags, "tests/mail/blobs/blob_writer_program.ts", root],
      cwd: ROOT,
    }).output();
    const decoder = new TextDecoder();
    assert.notEqual(stdout.length, 0, decoder.decode(stderr));
    assert.deepEqual(JSON.parse(decoder.decode(stdout)), { isWritten: true, losses: [] });
    assert.deepEqual(await Deno.readFile(join(root, "a")), new Uint8Array([1, 2, 3]));
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
