/** The test suite of RFC 7208 (as the package pyspf brings it) against the relay's checks of senders. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { checkAuth } from "../../../server/mail/receiving/sender_checks/check_auth.ts";
import type { DnsAnswer, DnsRecord, RecordType } from "../../../toolkit/mail/dns_message.ts";
import { longTest } from "../../support/long_test.ts";
import { runProgram, withSources } from "../../support/package_sources.ts";

interface Suite {
  zonedata: Record<string, (string | Record<string, unknown>)[]>;
  tests: Record<
    string,
    { host: string; helo?: string; mailfrom?: string; result: string | string[] }
  >;
}

const PYSPF = {
  name: "pyspf",
  version: "2.0.14",
  sha256: "57a7ef01bda090173aafb6af0106251686ed73f03db4e911fcd34c57fc347186",
};

/**
 * %{p} asks for the names of a client's address, up to eleven questions of a stranger's choice, and
 * "SHOULD NOT be published" (RFC 7208, 7.2): the library puts the sender's domain in its place.
 */
const DIFFERS = ["p-macro-multiple"];
const TO_JSON =
  "import json,sys,yaml;print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1],encoding='latin1'))),default=str))";
const MAX_ALIASES = 10;

longTest(
  "SPF is judged as the suite of RFC 7208 has it, but for the macro p",
  () =>
    withSources(PYSPF, async (suite) => {
      const file = join(suite, "test", "rfc7208-tests.yml");
      // Its own tests want the same reader of YAML.
      const env = { PYTHONPATH: join(suite, "yaml") };
      const pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--target", env.PYTHONPATH];
      await runProgram("python3", [...pip, "PyYAML==6.0.2"]);
      const suites: Suite[] = JSON.parse(await runProgram("python3", ["-c", TO_JSON, file], env));
      const wrong: string[] = [];
      let count = 0;
      for (const { zonedata, tests } of suites) {
        const lookup = lookupIn(zonedata);
        for (const [name, { host, helo, mailfrom, result }] of Object.entries(tests)) {
          count++;
          const { auth } = await checkAuth(
            new TextEncoder().encode("Subject: x\r\n\r\nx\r\n"),
            { clientIp: host, helo: helo ?? null, envelopeFrom: mailfrom ?? "" },
            0,
            lookup,
            { begun() {}, hashed() {} },
          );
          if (![result].flat().includes(auth.spf)) wrong.push(name);
        }
      }
      assert.equal(count, 203);
      assert.deepEqual(wrong, DIFFERS);
    }),
);

function lookupIn(zonedata: Suite["zonedata"]) {
  const zone = new Map(Object.entries(zonedata).map(([name, rows]) => [name.toLowerCase(), rows]));
  // deno-lint-ignore no-explicit-any -- rows of the suite, whose form is by type
  const valuesOf = (name: string, type: string): any[] =>
    (zone.get(name.toLowerCase()) ?? []).flatMap((row) =>
      typeof row === "object" && type in row ? [row[type]] : []
    );
  return function lookup(name: string, type: RecordType, aliases = 0): Promise<DnsAnswer> {
    const rows = zone.get(name.toLowerCase());
    if (rows === undefined) return Promise.resolve({ code: "ENOTFOUND" });
    const [alias] = valuesOf(name, "CNAME");
    if (alias !== undefined && aliases < MAX_ALIASES) return lookup(alias, type, aliases + 1);
    const own = valuesOf(name, type);
    // Where the suite gives SPF's own type alone, it means TXT too.
    const values = type === "TXT" && own.length === 0 ? valuesOf(name, "SPF") : own;
    const records = values.filter((value) => value !== "NONE" && value !== "TIMEOUT").map(
      (value): DnsRecord => {
        if (type === "TXT") return [value].flat() as string[];
        if (type === "MX") return { priority: value[0], exchange: value[1] };
        return value;
      },
    );
    if (records.length > 0) return Promise.resolve({ records });
    const isLost = rows.includes("TIMEOUT") || values.includes("TIMEOUT");
    return Promise.resolve({ code: isLost ? "ETIMEOUT" : "ENODATA" });
  };
}
