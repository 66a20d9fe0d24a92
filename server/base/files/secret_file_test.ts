import assert from "node:assert/strict";
import { join } from "node:path";
import { makeSecretFile, readSecretFile, type SecretForm } from "./secret_file.ts";

const FORM: SecretForm = {
  encode: (secret) => secret.toHex(),
  decode: (text) => /^([0-9a-f]{2})+$/.test(text) ? Uint8Array.fromHex(text) : null,
  advice: "must hold hex",
};
const SECRET = Uint8Array.of(1, 2, 3);

/** What was named and flushed in a folder while a function ran. */
async function stepsIn<T>(folder: string, work: () => Promise<T>): Promise<[string[], T]> {
  const { open, link } = Deno;
  const steps: string[] = [];
  Deno.open = async (path, options) => {
    const file = await open(path, options);
    const { sync } = file;
    if (path === folder) {
      file.sync = async () => {
        await sync.call(file);
        steps.push("folder flushed");
      };
    }
    return file;
  };
  Deno.link = async (from, to) => {
    await link(from, to);
    steps.push("named");
  };
  try {
    return [steps, await work()];
  } finally {
    Object.assign(Deno, { open, link });
  }
}

Deno.test({
  name: "a secret and its name are on the disk before anybody has it, whoever made the file",
  ignore: Deno.build.os === "windows", // it flushes no folders
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "relay-secret-" });
    const path = join(folder, "custody.key");
    try {
      const [made, secret] = await stepsIn(folder, () => makeSecretFile(path, SECRET, FORM));
      assert.deepEqual(made, ["named", "folder flushed"]);
      assert.deepEqual(secret, SECRET);
      // As a start finds it that follows one which was killed between the two.
      const [read, found] = await stepsIn(folder, () => readSecretFile(path, FORM));
      assert.deepEqual(read, ["folder flushed"]);
      assert.deepEqual(found, SECRET);
      const other = Uint8Array.of(4);
      const [lost, first] = await stepsIn(folder, () => makeSecretFile(path, other, FORM));
      assert.deepEqual(lost, ["folder flushed"], "the first one's is what both have");
      assert.deepEqual(first, SECRET);
      assert.equal(await readSecretFile(join(folder, "none"), FORM), null);
      assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name), ["custody.key"]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
