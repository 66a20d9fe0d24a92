/** The tours of README.md, docs/operations.md and docs/mail.md, as somebody pastes them into a shell. */
import assert from "node:assert/strict";
import { findPart } from "../support/part.ts";
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

Deno.test({
  name: "the tour of webhooks on a laptop runs as pasted (needs bash and Deno 2.9)",
  ignore: !canRunTours,
  async fn() {
    const said = await runTour({
      document: "docs/mail.md",
      after: "## Webhooks on a laptop",
      port: "8019",
    });
    const [, failed = "", moved = ""] = said.split(/== (?:A person writes|The webhook moves)/);
    // The page has them too, with the webhook of each.
    assert.equal(failed.match(/"webhook_id":"wh_[^"]*","url":"http/g)?.length, 2, failed);
    const rows = [...failed.matchAll(/"signature":"([^"]*)"[^\n]*?"status":(\d+)/g)];
    assert.deepEqual(rows.map(([, signature, status]) => [signature, status]), [
      ["ok", "204"],
      ["ok", "503"],
    ], failed);
    assert.match(failed, /"attempt":2[^\n]*"status":204[^]*"attempt":1[^\n]*"status":503/);
    assert.match(moved, /\n\{"event_id":"evt_[^]*\nevt_\S+ {2}webhook\.test {2}/);
    if (findPart("python3") !== null) assert.match(moved, /\nevt_\S+ webhook\.test None\n/);
  },
});
