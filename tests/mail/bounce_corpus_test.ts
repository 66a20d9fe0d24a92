/** Bounces that nobody here wrote, from flufl.bounce: what is applied, and what a person has to read. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { readReport } from "../../server/mail/delivery/read_report.ts";
import { toEnd } from "../../server/mail/parsing/sliced.ts";
import { reportedOn } from "../../server/mail/delivery/dsn.ts";
import { reportEvent } from "../../server/mail/delivery/report_event.ts";
import { longTest } from "../support/long_test.ts";
import { withSources } from "../support/package_sources.ts";

const FLUFL_BOUNCE = {
  name: "flufl.bounce",
  version: "6.0.0",
  sha256: "a1df16b9d1877ae4536f7d76c00d8421fcefbe694f80f5285d05c45a2547b1bc",
};

/** Those that its authors know to be delays, or no bounces at all. */
const NO_FAILURES =
  /^(?:dsn_0[5-8]|dsn_17|simple_(?:03|21|22|28|35|40)|dumbass_01|groupwise_03|llnl_01)\.txt$/;
const RECOGNISED = /^(?:dsn|qmail|exim|postfix|microsoft|yahoo)_/;

longTest(
  "of flufl.bounce's 117 bounces most are applied, and no delay is taken for a failure",
  () =>
    withSources(FLUFL_BOUNCE, async (folder) => {
      const data = join(folder, "tests", "data");
      const files = [...Deno.readDirSync(data)].map(({ name }) => name)
        .filter((name) => name.endsWith(".txt")).sort();
      assert.equal(files.length, 117);
      const counts = { bounced: 0, unchanged: 0, stored: 0 };
      const stored: string[] = [];
      for (const file of files) {
        const reports = toEnd(readReport(await Deno.readFile(join(data, file)), "")) ?? [];
        const report = reportedOn(reports, "nobody@agents.test");
        const event = report === null ? null : reportEvent(report);
        if (event !== null) {
          assert.equal(event.trigger, "reported_bounced", file);
          assert.ok(!NO_FAILURES.test(file), `${file} is no failure`);
          counts.bounced++;
        } else if (report !== null) counts.unchanged++;
        else {
          counts.stored++;
          stored.push(file);
        }
      }
      console.log(counts, stored.join(" "));
      assert.ok(counts.bounced >= 58 && counts.unchanged === 5, JSON.stringify(counts));
      const common = files.filter((file) => RECOGNISED.test(file));
      const left = common.filter((file) => stored.includes(file));
      assert.ok(left.length * 5 <= common.length, `a person reads ${left}`);
    }),
);
