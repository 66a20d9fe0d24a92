/**
 * What another library's tests expect of replies. CI brings its source; other machines skip this by
 * name where it is not there.
 */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { extractText } from "../../server/mail/parsing/extracted_text.ts";
import { htmlToText } from "../../server/mail/parsing/html_text.ts";
import { toEnd } from "../../server/mail/parsing/sliced.ts";
import { findPart, partOrSkip } from "../support/part.ts";

const ARCHIVE = "talon-1.4.4.tar.gz";
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

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

/** The archive; null where it is not there and may not be brought. */
async function bring(python: string): Promise<string | null> {
  const folder = join(Deno.env.get("TMPDIR") ?? "/tmp", "relay-test-programs", "talon-1.4.4");
  const archive = join(folder, ARCHIVE);
  if (await Deno.stat(archive).then(() => true, () => false)) return archive;
  if (Deno.env.get("CI") !== "true") return null;
  await Deno.mkdir(dirname(folder), { recursive: true });
  const draft = await Deno.makeTempDir({ dir: dirname(folder) });
  const pip = [
    "-m",
    "pip",
    "download",
    "--quiet",
    "--no-deps",
    "--no-binary",
    ":all:",
    "-d",
    draft,
  ];
  const { success, stderr } = await new Deno.Command(python, {
    args: [...pip, "-r", pathOf("talon_requirements.txt")],
  }).output();
  if (!success) throw new Error(`cannot bring talon: ${new TextDecoder().decode(stderr)}`);
  // The first of several test processes succeeds.
  await Deno.rename(draft, folder).catch(() => Deno.remove(draft, { recursive: true }));
  return archive;
}

/** The new words, white space left out; what is expected of HTML may be HTML or its text. */
function compare({ type, body, expected }: Expectation): { found: string; expected: string } {
  const html = type === "html" ? htmlToText(body) : null;
  const text = html?.text ?? body.replaceAll("\r\n", "\n");
  const found = toEnd(extractText(text, { kind: "reply", quotes: html?.quotes })).text;
  const wanted = html !== null && expected.includes("<") ? htmlToText(expected).text : expected;
  return { found: found.replaceAll(/\s/g, ""), expected: wanted.replaceAll(/\s/g, "") };
}

const NAME = "extractText() finds what talon's tests expect, but for six that are explained";
const python = findPart("python3");
const archive = python === null ? null : await bring(python);
if (python !== null && archive === null) {
  Deno.test({ name: `${NAME} (needs ${ARCHIVE}; CI=true brings it)`, ignore: true, fn() {} });
} else {
  partOrSkip("python3", NAME, async (program) => {
    const { stdout, stderr } = await new Deno.Command(program, {
      args: [pathOf("talon_expectations.py"), archive!],
    }).output();
    assert.equal(new TextDecoder().decode(stderr), "");
    const all: Expectation[] = JSON.parse(new TextDecoder().decode(stdout));
    assert.equal(all.length, 90);
    const wrong = all.map((one) => ({ name: one.name, ...compare(one) }))
      .filter(({ found, expected }) => found !== expected);
    assert.deepEqual(wrong.map(({ name }) => name).sort(), DIFFERENCES);
  });
}
