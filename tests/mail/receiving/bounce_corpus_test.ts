/** Other people's bounces, from flufl.bounce: which are applied, and which a person has to read. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { readReport } from "../../../server/mail/reading/reports/read_report.ts";
import { toEnd } from "../../../server/base/slices/sliced.ts";
import { reportedOn } from "../../../server/mail/reading/reports/dsn.ts";
import { reportEvent } from "../../../server/mail/receiving/reports/report_event.ts";
import { longTest } from "../../support/long_test.ts";
import { withSources } from "../../support/package_sources.ts";

const FLUFL_BOUNCE = {
  name: "flufl.bounce",
  version: "6.0.0",
  sha256: "a1df16b9d1877ae4536f7d76c00d8421fcefbe694f80f5285d05c45a2547b1bc",
};

/** What its own tests tell to be delays, and to be no bounces at all. */
const NO_FAILURES =
  /^(?:dsn_0[5-8]|dsn_17|simple_(?:03|21|22|28|35|40)|dumbass_01|groupwise_03)\.txt$/;

/** What is kept for a person to read, by the reason. */
const KEPT: Readonly<Record<string, string>> = {
  "delays in words, and what is no bounce":
    "dumbass_01 groupwise_03 simple_03 simple_21 simple_22 simple_28 simple_35 simple_40",
  "From names no mail server: anybody may say such words":
    "bounce_01 bounce_02 microsoft_03 qmail_08 simple_01 simple_13 simple_15 simple_20 simple_24 " +
    "simple_27 simple_30 simple_31 simple_32 simple_33 simple_36 simple_38 simple_43",
  "no plain text": "groupwise_02 simple_25 yahoo_12",
  "words of one provider's, or a reason that may pass (no route, no answer, a server's error)":
    "aol_01 bounce_03 caiwireless_01 dsn_15 llnl_01 netscape_01 postfix_02 postfix_03 simple_02 " +
    "simple_04 simple_07 simple_10 simple_11 simple_18 simple_19 simple_23 simple_26 simple_37 " +
    "simple_44 sina_01 smtp32_01 smtp32_02 smtp32_03 smtp32_05 yahoo_01 yale_01",
};

longTest(
  "of flufl.bounce's 117 bounces 58 are applied, and no delay is taken for a failure",
  () =>
    withSources(FLUFL_BOUNCE, async (folder) => {
      const data = join(folder, "tests", "data");
      const files = [...Deno.readDirSync(data)].map(({ name }) => name)
        .filter((name) => name.endsWith(".txt")).sort();
      assert.equal(files.length, 117);
      const counts = { bounced: 0, unchanged: 0 };
      const kept: string[] = [];
      for (const file of files) {
        const reports = toEnd(readReport(await Deno.readFile(join(data, file)), "")) ?? [];
        const report = reportedOn(reports, "nobody@agents.test");
        const event = report === null ? null : reportEvent(report);
        if (event !== null) {
          assert.equal(event.trigger, "reported_bounced", file);
          assert.ok(!NO_FAILURES.test(file), `${file} is no failure`);
          counts.bounced++;
        } else if (report !== null) counts.unchanged++;
        else kept.push(file.slice(0, -".txt".length));
      }
      assert.deepEqual(counts, { bounced: 58, unchanged: 5 });
      assert.deepEqual(kept, Object.values(KEPT).join(" ").split(" ").sort());
    }),
);
