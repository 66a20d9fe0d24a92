import assert from "node:assert/strict";
import { readCommand, readPath } from "./path_command.ts";

Deno.test("readPath() takes quotes off a local part that needs none, and off no other", () => {
  const addressOf = (path: string) => {
    const read = readPath(`FROM:<${path}>`, "FROM");
    return read === null || read === "not_ascii" ? read : read.address;
  };
  assert.equal(addressOf('"ada+tag"@c.test'), "ada+tag@c.test");
  assert.equal(addressOf('"a.b"@c.test'), "a.b@c.test");
  for (
    const local of ["a>b", "a<b", "a,b", "a:b", "(a)", "a;b", "[a]", ".a", "a.", "a..b", "a b"]
  ) {
    assert.equal(addressOf(`"${local}"@c.test`), `"${local}"@c.test`);
  }
});

Deno.test("readCommand() takes time in proportion to the line, whatever spaces it holds", () => {
  assert.deepEqual(readCommand("rcpt  TO:<a@b>  X=1 "), { verb: "RCPT", rest: "TO:<a@b>  X=1" });
  assert.deepEqual(readCommand("QUIT"), { verb: "QUIT", rest: "" });
  assert.deepEqual(readCommand(" QUIT"), { verb: "", rest: "" });
  assert.deepEqual(readCommand("MAIL,x"), { verb: "", rest: "" });
  const spaces = " ".repeat(100_000);
  const beganMs = performance.now();
  assert.equal(readCommand(`NOOP x${spaces}y`).rest, `x${spaces}y`);
  assert.equal(readCommand(`NOOP${spaces}`).rest, "");
  assert.ok(performance.now() - beganMs < 1_000);
});
