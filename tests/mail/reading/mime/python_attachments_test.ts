import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { fileURLToPath } from "node:url";
import { parseMail } from "../../../../server/mail/reading/parse_mail.ts";
import { partOrSkip } from "../../../support/part.ts";
import { propertySeed } from "../../../support/property_runs.ts";
import fc from "../../../support/seeded_fast_check.ts";
import { bytesOf } from "./corpus.ts";

const PROGRAM = fileURLToPath(new URL("python_attachments.py", import.meta.url));
const MAILS = 200;

/** Bytes among which line ends and dashes are common. */
const content = fc.array(
  fc.oneof(fc.constantFrom(10, 13, 45, 32, 61, 0, 255), fc.nat(255)),
  { maxLength: 120 },
).map((bytes) => Buffer.from(bytes));

function quotedPrintable(bytes: Buffer): string {
  const digits = [...bytes].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, "0")}`);
  return digits.map((digit, i) => i % 20 === 19 ? `${digit}=\r\n` : digit).join("");
}

const leaf = fc.tuple(
  content,
  fc.constantFrom("binary", "8bit", "base64", "quoted-printable"),
  fc.nat(99),
)
  .map(([bytes, encoding, name]) => {
    const body = encoding === "base64"
      ? bytes.toString("base64").replaceAll(/.{76}/g, "$&\r\n")
      : encoding === "quoted-printable"
      ? quotedPrintable(bytes)
      : bytes.toString("latin1");
    const header = `Content-Type: application/x-${name}; name="f ${name}.bin"`;
    return `${header}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`;
  });

/** A multipart of leaves and, here and there, of multiparts. Boundaries are prefixes of each other. */
function multipart(depth: number): fc.Arbitrary<string> {
  const child = depth === 0 ? leaf : fc.oneof(leaf, multipart(depth - 1));
  const boundary = `=_b${"x".repeat(depth)}`;
  return fc.array(child, { minLength: 1, maxLength: 4 }).map((children) => {
    const parts = children.map((part) => `--${boundary}\r\n${part}\r\n`).join("");
    return `Content-Type: multipart/mixed; boundary="${boundary}"\r\n\r\npreamble\r\n${parts}--${boundary}--\r\n`;
  });
}

partOrSkip(
  "python3",
  "parseMail() finds the same attachments, byte for byte, as Python does",
  async (python) => {
    const folder = await Deno.makeTempDir();
    try {
      const mails = fc.sample(multipart(3), { numRuns: MAILS, seed: propertySeed() });
      const ours: Record<string, unknown[]> = {};
      for (const [i, mail] of mails.entries()) {
        const raw = bytesOf(`From: a@a.example\r\n${mail}`);
        const name = String(i).padStart(4, "0");
        await Deno.writeFile(`${folder}/${name}`, raw);
        const context = { envelopeFrom: "", limits: { parts: 10_000, depth: 50 } };
        const { facts } = parseMail(raw, context);
        ours[name] = facts.parseWarnings.includes("attachments_cut")
          ? []
          : facts.attachments.map((a) => [
            a.filename,
            a.contentType,
            a.sizeBytes,
            a.sha256,
          ]);
      }
      const { stdout, stderr } = await new Deno.Command(python, { args: [PROGRAM, folder] })
        .output();
      assert.equal(new TextDecoder().decode(stderr), "");
      const theirs: Record<string, unknown[]> = JSON.parse(new TextDecoder().decode(stdout));
      const compared = Object.keys(ours).filter((name) => ours[name]!.length > 0);
      assert.ok(compared.length > MAILS / 2);
      for (const name of compared) assert.deepEqual(ours[name], theirs[name], name);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
