import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { seededRandom } from "../../../tests/support/fake_kv.ts";
import { SmtpDialogue, type SmtpFailure } from "./smtp_dialogue.ts";

/** A socket that answers what is written as told, and keeps it. */
class FakeSocket extends EventEmitter {
  written = "";
  writable = true;

  constructor(private readonly answer: (written: string) => string | null) {
    super();
  }

  write(bytes: Uint8Array, done?: () => void): boolean {
    const text = Buffer.from(bytes).toString("latin1");
    this.written += text;
    const said = this.answer(text);
    if (said !== null) queueMicrotask(() => this.emit("data", Buffer.from(said)));
    if (done !== undefined) queueMicrotask(done);
    return true;
  }
}

const within = <T>(what: Promise<T>): Promise<T> => what;
const ENVELOPE = { from: "a@b.test", to: "c@d.test" };

function open(answer: (written: string) => string | null, extensions: string[] = []) {
  const socket = new FakeSocket(answer);
  const failures: SmtpFailure[] = [];
  const dialogue = new SmtpDialogue(
    socket as unknown as Socket,
    extensions,
    (failure) => failures.push(failure),
  );
  return { socket, dialogue, failures };
}

Deno.test("SmtpDialogue.send() ends all lines with CRLF and doubles dots, wherever a content is cut", async () => {
  const random = seededRandom(43);
  const pieces = ["\r\n", "\r", "\n", ".", "..", "x", "word ", "\r\n.", "\n."];
  for (let round = 0; round < 40; round++) {
    let content = "";
    if (round % 2 === 1) content = "x".repeat(65_530 + round % 8);
    for (let i = round * 3; i > 0; i--) content += pieces[Math.floor(random() * pieces.length)];
    if (round % 4 === 3) content += "y".repeat(65_536) + ".\r\n.";
    const { socket, dialogue } = open((written) => {
      if (written === "DATA\r\n") return "354 go on\r\n";
      return /^(?:MAIL|RCPT)|(?:^|\n)\.\r\n$/.test(written) ? "250 ok\r\n" : null;
    });
    await dialogue.begin(ENVELOPE, within);
    socket.written = "";
    await dialogue.send(Buffer.from(content, "latin1"), within, () => {});
    const lines = content.replace(/\r\n|\r|\n/g, "\r\n").split("\r\n");
    const hasEnd = lines.length > 1 && lines.at(-1) === "";
    const stuffed = lines.map((line) => line.startsWith(".") ? `.${line}` : line).join("\r\n");
    const isAsExpected = socket.written === `${stuffed}${hasEnd ? "" : "\r\n"}.\r\n`;
    assert.ok(isAsExpected, JSON.stringify([round, content.slice(65_520)]));
  }
});

Deno.test("SmtpDialogue takes replies in any pieces, and one to a content before its end as one to it", async () => {
  const { dialogue, socket, failures } = open((written) =>
    written === "DATA\r\n" ? "354 go on\r\n552-5.3.4 too\r\n552 large\r\n" : "25"
  );
  queueMicrotask(() => setTimeout(() => socket.emit("data", Buffer.from("0 ok\r\n"))));
  const begun = dialogue.begin(ENVELOPE, within);
  await new Promise((resolve) => setTimeout(resolve, 5));
  socket.emit("data", Buffer.from("0 ok\r\n"));
  await begun;
  let isWhole = false;
  const sent = dialogue.send(Buffer.from("x\r\n"), within, () => isWhole = true);
  await assert.rejects(sent, { command: "DATA", response: "552-5.3.4 too\n552 large" });
  assert.deepEqual([isWhole, failures], [false, []]);
  socket.emit("data", Buffer.from("421 4.3.2 gr\xfc\xdfe\r\n", "latin1"));
  assert.deepEqual(failures.map(({ response }) => response), ["421 4.3.2 gr\xfc\xdfe"]);
});

Deno.test("SmtpDialogue.send() tells of no end over a connection that is gone", async () => {
  const { dialogue, socket } = open((written) =>
    written === "DATA\r\n" ? "354 go on\r\n" : "250 ok\r\n"
  );
  await dialogue.begin(ENVELOPE, within);
  socket.writable = false;
  const broken = Promise.reject(new Error("broken"));
  let isWhole = false;
  await assert.rejects(
    dialogue.send(
      Buffer.from("x"),
      (what) => Promise.race([what, broken.catch(() => what), broken]),
      () => isWhole = true,
    ),
    /broken/,
  );
  assert.equal(isWhole, false);
});
