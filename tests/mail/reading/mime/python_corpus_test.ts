/**
 * The mails that CPython tests its parser with, as Debian packages them: what they show by our reading
 * and by Python's. The table of docs/mail.md has the figures.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { parseMail } from "../../../../server/mail/reading/parse_mail.ts";
import { runCommand } from "../../../gate/run_command.ts";
import { longTest } from "../../../support/long_test.ts";

const PROGRAM = fileURLToPath(new URL("python_corpus.py", import.meta.url));
const CONTEXT = { envelopeFrom: "", limits: { parts: 200, depth: 50 } };

/** Where both differ, and why. */
const EXPLAINED: Readonly<Record<string, string>> = {
  "msg_15.txt":
    "one boundary for two multiparts: Python takes HTML and text for one after the other",
  "msg_25.txt": "a multipart without a boundary: Python shows nothing",
  "msg_41.txt": "a multipart without a boundary: Python shows nothing",
};

interface Described {
  failed?: string;
  subject: string | null;
  types: string[];
  words: string[];
}

async function run(command: [string, ...string[]], cwd: string): Promise<string> {
  const { exitCode, output } = await runCommand(command, { cwd });
  assert.equal(exitCode, 0, `${command.join(" ")}: ${output}`);
  return output;
}

/** @returns the folder of the mails */
async function fetchMails(folder: string): Promise<string> {
  const names = await run(["apt-cache", "pkgnames", "libpython3"], folder);
  const [name] = /^libpython3\.\d+-testsuite$/m.exec(names) ?? [];
  assert.ok(name, "no package with the tests of CPython; run apt-get update");
  await run(["apt-get", "download", "-q", name], folder);
  await run(["sh", "-c", "dpkg -x ./*.deb unpacked"], folder);
  const found = await run(["find", "unpacked", "-path", "*test_email/data"], folder);
  return `${folder}/${found.trim()}`;
}

const wordsOf = (text: string | null) => (text ?? "").split(/\s+/).filter((word) => word !== "");

longTest("parseMail() shows of CPython's mails what Python does", async () => {
  const folder = await Deno.makeTempDir({ prefix: "python_corpus_" });
  try {
    const mails = await fetchMails(folder);
    const theirs: Record<string, Described> = JSON.parse(
      await run(["python3", PROGRAM, mails], folder),
    );
    const names = Object.keys(theirs);
    assert.ok(names.length >= 40, names.join());
    const differing: string[] = [];
    const subjects: string[] = [];
    for (const name of names) {
      const { failed, subject, types, words } = theirs[name]!;
      assert.equal(failed, undefined, name);
      const { facts, texts } = parseMail(await Deno.readFile(`${mails}/${name}`), CONTEXT);
      // Python gives HTML as it stands.
      const isHtml = types.length === 1 && types[0] === "text/html";
      const ours = wordsOf(isHtml ? texts.html : texts.text);
      if (ours.join(" ") !== words.join(" ")) differing.push(name);
      if (wordsOf(facts.subject).join(" ") !== wordsOf(subject).join(" ")) subjects.push(name);
    }
    assert.deepEqual(differing, Object.keys(EXPLAINED));
    assert.deepEqual(subjects, []);
    console.log(`${names.length - differing.length} of ${names.length} texts agree`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
