/**
 * The mails that mail-parser, a crate, is tested with: what is read of them here and by its snapshots,
 * class by class. The table of docs/mail.md has the figures.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { htmlToText } from "../../../../server/mail/reading/html/html_text.ts";
import { parseMail } from "../../../../server/mail/reading/parse_mail.ts";
import { longTest } from "../../../support/long_test.ts";
import { withCrate } from "../../../support/package_sources.ts";

const MAIL_PARSER = {
  name: "mail-parser",
  version: "1.0.1",
  sha256: "3d4ea9311ef3ca6189aa85c5f984bd47b2f12079bcabae28917d900ab26c9ecc",
};
/** Folders of mails with a snapshot each; what is in `issues` has none. */
const SUITES = ["legacy", "malformed", "regressions", "rfc", "thirdparty"];
const CONTEXT = { envelopeFrom: "", limits: { parts: 200, depth: 50 } };

const UTF_7 = "UTF-7 is not read: browsers gave it up, because it hides markup";
const RAW_BYTES = "bytes that name no character set are read as windows-1252, not as damage";
const NO_ADDRESS = "From without an address at a domain: no sender, and invalid_from";
const COMMENT = "a comment behind an address is not of the name";
const NO_PARTS =
  "a multipart in which no part begins is not attached: the raw message has its bytes";
const BAD_TYPE = "a multipart without a boundary, or a type of no form, is a text";
const WHOLE_LINE = "a boundary counts only as a line of its own";
const CLOSING_LINE = "the line that closes a multipart is no text";
const NO_FIELD = "the first line is no field: the body has begun";
const FIRST_TYPE = "of two types of a part the first counts";
const LAST_CHOICE = "of alternatives of one type the last is shown, not all of them";
const FOOTER = "a footer behind the HTML is shown, also inside an alternative";
const NAMED_HTML = "HTML that has a name is an alternative like any other";
const OTHER_CHOICE = "the plain text beside HTML that is shown is no attachment";
const LAST_COMPONENT = "of a file name that is a path the last component is told";
const FUZZED = "a fuzzer's: boundaries that differ in case, and parts without an empty line";

type Class = "subject" | "from" | "plain text" | "text shown" | "attachments";

const TEXTS: Readonly<Record<string, string>> = {
  "legacy/001": UTF_7,
  "legacy/005": UTF_7,
  "legacy/034": UTF_7,
  "legacy/052": RAW_BYTES,
  "malformed/004": WHOLE_LINE,
  "malformed/007": CLOSING_LINE,
  "malformed/017": BAD_TYPE,
  "malformed/019": FUZZED,
  "malformed/020": FIRST_TYPE,
  "malformed/021": FIRST_TYPE,
  "malformed/023": BAD_TYPE,
  "regressions/fallback-delimiter-after-text": WHOLE_LINE,
  "regressions/fallback-delimiter-mid-line": WHOLE_LINE,
  "regressions/garbage-line-before-fold": NO_FIELD,
  "regressions/header-name-smuggled-subject": NO_FIELD,
  "regressions/unopened-multiparts": BAD_TYPE,
  "regressions/utf7-terminators": UTF_7,
  "thirdparty/000": LAST_CHOICE,
  "thirdparty/001": LAST_CHOICE,
  "thirdparty/005": WHOLE_LINE,
};

/** Where both differ, and why. */
const EXPLAINED: Readonly<Record<Class, Readonly<Record<string, string>>>> = {
  subject: {
    "legacy/001": UTF_7,
    "legacy/005": UTF_7,
    "legacy/010": RAW_BYTES,
    "legacy/020": RAW_BYTES,
    "legacy/022": RAW_BYTES,
    "legacy/027": RAW_BYTES,
    "legacy/052": RAW_BYTES,
    "regressions/garbage-line-before-fold": NO_FIELD,
  },
  from: {
    "regressions/blank-continuation-in-header-block": NO_ADDRESS,
    "regressions/readme-example": COMMENT,
    "rfc/001": NO_ADDRESS,
    "rfc/004": NO_ADDRESS,
    "thirdparty/007": NO_ADDRESS,
  },
  "plain text": TEXTS,
  "text shown": {
    ...TEXTS,
    "regressions/alternative-dropped-footer": FOOTER,
    "regressions/alternative-named-html": NAMED_HTML,
  },
  attachments: {
    "legacy/016": RAW_BYTES,
    "legacy/023": RAW_BYTES,
    "legacy/026": RAW_BYTES,
    "legacy/035": LAST_COMPONENT,
    "legacy/039": LAST_COMPONENT,
    "malformed/001": NO_PARTS,
    "malformed/002": NO_PARTS,
    "malformed/017": BAD_TYPE,
    "regressions/alternative-dropped-footer": FOOTER,
    "regressions/alternative-named-html": NAMED_HTML,
    "regressions/alternative-nested-dropped": OTHER_CHOICE,
    "regressions/unopened-multiparts": NO_PARTS,
    "rfc/001": LAST_COMPONENT,
  },
};

interface Snapshot {
  messages: {
    id: number;
    root: number;
    text_body: number[];
    html_body: number[];
  }[];
  parts: SnapshotPart[];
}

interface SnapshotPart {
  id: number;
  message: number;
  kind: "text" | "html" | "binary" | "inline_binary" | "multipart" | "message";
  headers: { name: string; value: HeaderValue | null }[];
  text?: string;
  /** Base64. */
  binary?: string;
}

interface HeaderValue {
  text?: string;
  address?: { mailbox?: { name: string | null; address: string | null } }[];
  content_type?: { attributes?: [string, string][] };
}

type Read = Readonly<Record<Class, unknown>>;

/** As the snapshots were made: some of the files end their lines with LF. */
function withCrlf(raw: Uint8Array): Uint8Array {
  const latin1 = Array.from(raw, (byte) => String.fromCharCode(byte)).join("");
  return Uint8Array.from(
    latin1.replaceAll(/(?<!\r)\n/g, "\r\n"),
    (character) => character.charCodeAt(0),
  );
}

const words = (text: string | null | undefined) =>
  (text ?? "").split(/\s+/).filter(Boolean).join(" ");
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** HTML is made text by our rules; what is compared is which it is, and its characters. */
function theirs({ messages: [mail], parts }: Snapshot): Read {
  const valuesOf = (part: SnapshotPart, name: string) =>
    part.headers.filter((header) => header.name.toLowerCase() === name)
      .flatMap(({ value }) => value ?? []);
  const root = parts[mail!.root]!;
  const textOf = (ids: number[]) =>
    words(
      ids.map((id) => {
        const { kind, text = "" } = parts[id]!;
        return kind === "html" ? htmlToText(text).text : text;
      }).join("\n"),
    );
  const nameOf = (part: SnapshotPart) => {
    const given = (header: string, parameter: string) =>
      valuesOf(part, header).at(-1)?.content_type?.attributes
        ?.find(([name]) => name === parameter)?.[1];
    return given("content-disposition", "filename") ?? given("content-type", "name") ?? null;
  };
  const [sender] = valuesOf(root, "from").flatMap(({ address = [] }) => address);
  const shown = new Set([...mail!.text_body, ...mail!.html_body]);
  return {
    subject: words(valuesOf(root, "subject").at(-1)?.text),
    from: sender === undefined
      ? null
      : [words(sender.mailbox?.name), words(sender.mailbox?.address)],
    "plain text": textOf(mail!.text_body),
    "text shown": textOf(mail!.html_body),
    // Pictures among the bodies (RFC 8621) are attachments here.
    attachments: parts
      .filter(({ id, message, kind }) =>
        message === mail!.id && kind !== "multipart" &&
        !(shown.has(id) && (kind === "text" || kind === "html"))
      )
      .map((part) => [
        nameOf(part),
        part.binary === undefined ? null : sha256(Uint8Array.fromBase64(part.binary)),
      ]),
  };
}

/** @param known which attachments they tell the bytes of */
function ours(raw: Uint8Array, known: readonly boolean[]): Read {
  const { facts, texts } = parseMail(raw, CONTEXT);
  return {
    subject: words(facts.subject),
    from: facts.from === null ? null : [words(facts.from.name), words(facts.from.address)],
    "plain text": words(texts.text),
    "text shown": words(texts.shown ?? texts.text),
    attachments: facts.attachments.map(({ filename, sha256 }, index) => [
      filename,
      known[index] === true ? sha256 : null,
    ]),
  };
}

longTest(
  "parseMail() reads mail-parser's mails as its snapshots have them, but where told",
  () =>
    withCrate(MAIL_PARSER, async (folder) => {
      const differing = Object.fromEntries(
        Object.keys(EXPLAINED).map((one) => [one, [] as string[]]),
      );
      let count = 0;
      for (const suite of SUITES) {
        const mails = join(folder, "resources", "eml", suite);
        const files = [...Deno.readDirSync(mails)].map(({ name }) => name);
        for (const file of files.filter((name) => name.endsWith(".eml"))) {
          const name = file.slice(0, -".eml".length);
          const snapshot = await Deno.readTextFile(join(mails, `${name}.crlf.json`));
          const expected = theirs(JSON.parse(snapshot));
          const known = (expected.attachments as [unknown, string | null][]).map(([, hash]) =>
            hash !== null
          );
          const found = ours(withCrlf(await Deno.readFile(join(mails, file))), known);
          count++;
          for (const [one, names] of Object.entries(differing)) {
            const [a, b] = [found, expected].map((read) => JSON.stringify(read[one as Class]));
            if (a !== b) names.push(`${suite}/${name}`);
          }
        }
      }
      assert.equal(count, 184);
      for (const [one, names] of Object.entries(differing)) {
        console.log(`${one}: ${count - names.length} of ${count}`);
        assert.deepEqual(names.sort(), Object.keys(EXPLAINED[one as Class]).sort(), one);
      }
    }),
);
