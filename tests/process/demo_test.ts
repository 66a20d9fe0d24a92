/** `deno task demo`, as somebody starts it: each step says what held. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { canRunTours } from "../support/run_tour.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

Deno.test({
  name:
    "deno task demo walks through messages and mail, and leaves nothing behind (needs Deno 2.9)",
  ignore: !canRunTours,
  async fn() {
    const folder = await Deno.makeTempDir({ prefix: "relay-demo-test-" });
    try {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["task", "-q", "demo"],
        cwd: ROOT,
        env: { TMPDIR: folder },
      }).output();
      const [said, complaints] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
      assert.equal(code, 0, said! + complaints!);
      assert.equal(complaints, "");
      const steps: [string, RegExp][] = [
        ["Bob polls", /signature valid, sender pinned, hash match, body bound/],
        ["A copy of the reply", /hash mismatch, body unbound/],
        ["Alice's key registers for e-mail", /^ +org_\w+ is a trial for 24 hours/m],
        ["A person claims", /belongs to pat@example\.org and may send/],
        ["The org makes an inbox", /alice@agents\.test, active/],
        ["A mail server hands in", /"Lunch\?" Is noon all right\?[^]*the code 4711/],
        ["The agent answers", /"Re: Lunch\?" to pat@example\.org: sent/],
        ["A receiver verifies", /as sent pass; with one word changed, no pass/],
        ["A mail to an address", /bounced, 550 5\.1\.1[^]*refused with recipient_suppressed/],
      ];
      assert.equal(steps.length, 9);
      for (const [title, held] of steps) {
        const [shown] = said!.split(`\n- ${title}`).slice(1);
        assert.ok(shown !== undefined, `${title}: ${said}`);
        assert.match(shown.split("\n- ")[0]!, held);
      }
      assert.match(said!, /Every step held\. [^\n]*\n$/);
      assert.deepEqual([...Deno.readDirSync(folder)], [], "no folder is left");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
