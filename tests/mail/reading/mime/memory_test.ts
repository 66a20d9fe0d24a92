import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { isLong } from "../../../support/long_test.ts";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
/** 500 as measured: 100 of the runtime, 50 of the mail as the test makes it, the rest the worker's. */
const MAX_MIB = 900;

/** The dearest, and with --long the others. */
const MAILS = ["25 MiB of quotes", ...(isLong ? ["25 MiB of line ends", "25 MiB of base64"] : [])];

for (const name of MAILS) {
  Deno.test(`MailWorker.read() takes bounded memory for ${name}, however often`, async () => {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "--no-check", "-A", "tests/mail/reading/mime/memory_program.ts", name],
      cwd: ROOT,
    }).output();
    const decoder = new TextDecoder();
    assert.equal(decoder.decode(stderr), "");
    const mib = Number(decoder.decode(stdout));
    assert.ok(mib > 0 && mib < MAX_MIB, `${mib} MiB`);
  });
}
