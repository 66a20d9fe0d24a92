import assert from "node:assert/strict";
import { base64 } from "@scure/base";
import { join } from "node:path";
import { decodeInboundSecret } from "../../../toolkit/client/inbound_secret.ts";
import { inboundSecretPath, openInboundSecret } from "./inbound_secret.ts";

const random = (sizeBytes: number) => crypto.getRandomValues(new Uint8Array(sizeBytes));

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "relay-inbound-" });
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("openInboundSecret() makes one in local mode, for its owner's eyes only, and finds it again", () =>
  withFolder(async (folder) => {
    const config = { dataDir: join(folder, "data"), mail: { local: true } };
    const made = await openInboundSecret(config, random);
    assert.equal(made!.length, 32);
    const path = inboundSecretPath(config);
    if (Deno.build.os !== "windows") assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    const text = await Deno.readTextFile(path);
    assert.equal(text, `whsec_${base64.encode(made!)}\n`);
    // What signs on the other side reads the same file.
    assert.deepEqual(decodeInboundSecret(text), made);
    assert.deepEqual(await openInboundSecret(config, random), made);
    assert.equal([...Deno.readDirSync(config.dataDir)].length, 1, "no draft is left");
  }));

Deno.test("openInboundSecret() takes the configured one, and makes none outside of local mode", () =>
  withFolder(async (dataDir) => {
    const inboundSecret = random(24);
    for (const local of [true, false]) {
      const given = await openInboundSecret({ dataDir, mail: { local, inboundSecret } }, random);
      assert.equal(given, inboundSecret);
    }
    assert.equal(await openInboundSecret({ dataDir, mail: { local: false } }, random), null);
    assert.deepEqual([...Deno.readDirSync(dataDir)], []);
  }));

Deno.test("openInboundSecret() stops at a damaged file, and does not repeat it", () =>
  withFolder(async (dataDir) => {
    const config = { dataDir, mail: { local: true } };
    for (const text of ["", "whsec_short", "no base64, no secret of the gateway"]) {
      await Deno.writeTextFile(inboundSecretPath(config), text);
      await assert.rejects(openInboundSecret(config, random), (error: Error) => {
        assert.match(error.message, /inbound\.secret must hold whsec_ and base64/);
        return text === "" || !error.message.includes(text);
      });
    }
  }));
