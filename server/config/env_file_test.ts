import assert from "node:assert/strict";
import { join } from "node:path";
import { withEnvFile } from "./env_file.ts";

Deno.test("withEnvFile() reads a .env file, and the process wins over it", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const path = join(dir, ".env");
    await Deno.writeTextFile(
      path,
      '# settings\nPORT=9000\nHOST = 0.0.0.0\nRELAY_LIMITS={"bodyBytes":5}\nRELAY_MAIL_FROM="A Relay <r@example.org>"\n\nexport RELAY_DATA_DIR=./d # where\n',
    );
    assert.deepEqual({ ...await withEnvFile({ PORT: "8001" }, path) }, {
      PORT: "8001",
      HOST: "0.0.0.0",
      RELAY_LIMITS: '{"bodyBytes":5}',
      RELAY_MAIL_FROM: "A Relay <r@example.org>",
      RELAY_DATA_DIR: "./d",
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("withEnvFile() gives the process alone when there is no file", async () => {
  const dir = await Deno.makeTempDir();
  try {
    assert.deepEqual(await withEnvFile({ PORT: "1" }, join(dir, ".env")), { PORT: "1" });
    await assert.rejects(withEnvFile({}, dir));
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
