/** What the tests of talon, another library, expect of replies. */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { extractText } from "../../../server/mail/reading/text/extracted_text.ts";
import { htmlToText } from "../../../server/mail/reading/html/html_text.ts";
import { toEnd } from "../../../server/base/slices/sliced.ts";
import { longTest } from "../../support/long_test.ts";
import { runProgram, withSources } from "../../support/package_sources.ts";

const TALON = {
  name: "talon",
  version: "1.4.4",
  sha256: "263d122609747691e9f75726ea565f5da8a40146a7a81eb5883e51b8224b0e5c",
};
const PROGRAM = fileURLToPath(new URL("talon_expectations.py", import.meta.url));

/** Where we differ; docs/mail.md says why. */
const DIFFERENCES = [
  "test_blockquote_disclaimer",
  "test_gmail_quote_blockquote",
  "test_link_closed_with_quotation_marker_on_new_line",
  "test_pattern_on_date_polymail",
  "test_reply_separated_by_hr",
  "test_unicode_in_reply",
];

interface Expectation {
  name: string;
  type: "plain" | "html";
  body: string;
  expected: string;
}

/** The new words, white space left out; what is expected of HTML may be HTML or its text. */
function compare({ type, body, expected }: Expectation): { found: string; expected: string } {
  const html = type === "html" ? htmlToText(body) : null;
  const text = html?.text ?? body.replaceAll("\r\n", "\n");
  const found = toEnd(extractText(text, { kind: "reply", quotes: html?.quotes })).text;
  const wanted = html !== null && expected.includes("<") ? htmlToText(expected).text : expected;
  return { found: found.replaceAll(/\s/g, ""), expected: wanted.replaceAll(/\s/g, "") };
}

longTest(
  "extractText() finds what talon's tests expect, but for six that are explained",
  () =>
    withSources(TALON, async (folder) => {
      const all: Expectation[] = JSON.parse(await runProgram("python3", [PROGRAM, folder]));
      assert.equal(all.length, 90);
      const wrong = all.map((one) => ({ name: one.name, ...compare(one) }))
        .filter(({ found, expected }) => found !== expected);
      assert.deepEqual(wrong.map(({ name }) => name).sort(), DIFFERENCES);
    }),
);
