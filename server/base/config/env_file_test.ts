import assert from "node:assert/strict";
import { join } from "node:path";
import { parseEnvFile, withEnvFile } from "./env_file.ts";

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

Deno.test("parseEnvFile() reads values bare, quoted, empty and over several lines", () => {
  const text = [
    "\ufeff# comment",
    "A=1",
    "  export B = two words  # comment",
    "C=",
    "D=#nothing",
    "E=a#b",
    'F="x # y\\n\\"z\\" \\\\ \\q" # comment',
    "G='a \\n \"b\" # c'",
    'H="-----BEGIN',
    'two"',
    'I={"a":"b"}',
    "A=3\r",
    "J=base64==",
  ].join("\n");
  assert.deepEqual(parseEnvFile(text), {
    A: "3",
    B: "two words",
    C: "",
    D: "",
    E: "a#b",
    F: 'x # y\n"z" \\ \\q',
    G: 'a \\n "b" # c',
    H: "-----BEGIN\ntwo",
    I: '{"a":"b"}',
    J: "base64==",
  });
  assert.deepEqual(parseEnvFile(""), {});
  assert.deepEqual(parseEnvFile("\n\r\n  \n#"), {});
});

Deno.test("parseEnvFile() names the malformed line and repeats nothing of it", () => {
  for (
    const line of [
      "hunter2",
      "1A=hunter2",
      "A B=hunter2",
      "=hunter2",
      'A="hunter2',
      "A='hunter2",
      'A="hunter2" x',
      "A-B=hunter2",
    ]
  ) {
    assert.throws(() => parseEnvFile(`# one\nOK=1\n${line}`), (error: Error) => {
      assert.match(error.message, /^\.env line 3 must be NAME=value/);
      return !error.message.includes("hunter2");
    }, line);
  }
});
