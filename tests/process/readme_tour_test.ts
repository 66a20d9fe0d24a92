/** The tours of README.md and docs/operations.md, as somebody pastes them into a shell. */
import assert from "node:assert/strict";
import { canRunTours, runTour } from "../support/run_tour.ts";

Deno.test({
  name: "the tour of README.md runs as pasted, and leaves nothing behind (needs bash and Deno 2.9)",
  ignore: !canRunTours,
  async fn() {
    const said = await runTour({
      document: "README.md",
      after: "Then the command line",
      port: "8017",
    });
    assert.match(said, /Are you there, Bob\?[^]*== Now Alice/);
    assert.match(said, /== The same key registers[^]*\nalice@agents\.test active\n/);
    assert.match(said, /FALSE[^]*exit code 1\n$/);
  },
});

Deno.test({
  name: "the tour of receiving mail on a laptop runs as pasted (needs bash and Deno 2.9)",
  ignore: !canRunTours,
  async fn() {
    const said = await runTour({
      document: "docs/operations.md",
      after: "### Receiving mail on a laptop",
      port: "8018",
    });
    assert.match(said, /\n\{"id":"ibx_[^\n]*"address":"bot@agents\.test"/);
    assert.match(said, /== A person[^]*\n\{"accepted":\["bot@agents\.test"\],"rejected":\[\]\}\n/);
    assert.match(
      said,
      /"subject":"Your sign-in"[^\n]*"codes":\[\{"value":"482913","kind":"numeric"/,
    );
    const waited = said.slice(said.indexOf("== It waits"));
    assert.match(waited, /\n\{"data":\[\{"id":"msg_[^\n]*"subject":"Are you there\?"/);
    assert.doesNotMatch(waited, /Your sign-in/);
  },
});
