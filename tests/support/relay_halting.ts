/**
 * Runs server/main.ts and halts at a named step of receiving mail, so that a test can kill it there, or
 * let it go on by a file `go` in its data folder. TEST_HALT_AT is the step, TEST_HALT_MAIL the number of
 * the mail handed in, from 1 on.
 */
import { existsSync } from "node:fs";
import { Blobs } from "../../server/base/blobs/blobs.ts";
import { readSettings } from "../../server/base/config/read_settings.ts";
import { MailWorker } from "../../server/mail/worker/mail_worker.ts";
import { Destinations } from "../../server/mail/receiving/destinations.ts";
import type { ReceivedMail } from "../../server/mail/receiving/received_mail.ts";
import { Receiver } from "../../server/mail/receiving/receiver.ts";
import { RememberedAnswers } from "../../server/mail/receiving/remembered_answers.ts";
import { GroupCommit } from "../../server/base/storage/commits/group_commit.ts";
import { changesOf, type JournalRow } from "../../server/base/storage/journal/journal_row.ts";
import type { HaltStep } from "./halt_steps.ts";

const env = readSettings(["RELAY_DATA_DIR", "TEST_HALT_AT", "TEST_HALT_MAIL"]);
let handedIn = 0;

/** The mail is at this step now. */
function at(step: HaltStep): void {
  if (step !== env["TEST_HALT_AT"] || handedIn !== Number(env["TEST_HALT_MAIL"])) return;
  console.log(`halted at: ${step}`);
  const cell = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(`${env["RELAY_DATA_DIR"]}/go`)) Atomics.wait(cell, 0, 0, 20);
}

// deno-lint-ignore no-explicit-any -- any method of any class
type Method = (...args: any[]) => any;

/** Makes a method pass a step before it runs, and another once it has. */
function around<C extends { prototype: object }>(
  { prototype }: C,
  name: keyof C["prototype"] & string,
  steps: { before?: HaltStep; after?: HaltStep },
  isMeant: (...args: unknown[]) => boolean = () => true,
): void {
  const object = prototype as Record<string, Method>;
  const method = object[name]!;
  object[name] = function (...args: unknown[]) {
    if (!isMeant(...args)) return method.apply(this, args);
    if (steps.before !== undefined) at(steps.before);
    const result = method.apply(this, args);
    if (steps.after === undefined) return result;
    const { after } = steps;
    return Promise.resolve(result).then((value) => {
      at(after);
      return value;
    });
  };
}

const { keyOf } = RememberedAnswers.prototype;
RememberedAnswers.prototype.keyOf = function (webhookId) {
  handedIn++;
  at("body read");
  return keyOf.call(this, webhookId);
};
// By SMTP nobody asks for the answers of former requests.
const { receive } = Receiver.prototype;
Receiver.prototype.receive = function (this: Receiver, mail: ReceivedMail, ...rest: unknown[]) {
  if (mail.traceBytes !== undefined) {
    handedIn++;
    at("body read");
  }
  return (receive as Method).call(this, mail, ...rest);
} as typeof receive;
around(RememberedAnswers, "find", { after: "known to be new" });
around(Destinations, "find", { after: "inbox found" });
around(MailWorker, "read", { before: "before parsing", after: "parsed" });
around(Blobs, "write", { before: "before bytes", after: "bytes written" });
around(
  GroupCommit,
  "submit",
  { before: "before commit" },
  // A change of a mailbox.
  (job) =>
    (job as { records?: Deno.KvKey[] }).records?.some(([first]) => first === "mail-inbox") === true,
);
around(Receiver, "receive", { after: "before answer" });

const isBlobFile = (path: string | URL) => /\/mail\/[^/]+\/[^/]+\/[^/]+$/.test(String(path));
const isMark = (path: string | URL) => /\/mail\/store(\.[^/]*)?$/.test(String(path));

const { open, rename } = Deno;
Deno.open = async (path, options) => {
  const file = await open(path, options);
  if (!options?.write) return file;
  const { sync } = file;
  file.sync = async () => {
    if (isBlobFile(path)) at("file filled");
    await sync.call(file);
    if (isMark(path)) at("mark filled");
    if (isBlobFile(path)) at("file flushed");
  };
  return file;
};
Deno.rename = async (from, to) => {
  await rename(from, to);
  if (isMark(to)) at("mark named");
  if (isBlobFile(to)) at("file named");
};
const { set, commit } = Deno.AtomicOperation.prototype;
const keeping = new WeakSet<Deno.AtomicOperation>();
const isMessage = (key: Deno.KvKey) => key[0] === "mail-message";
Deno.AtomicOperation.prototype.set = function (key, value, ...rest) {
  const changes = key[0] === "journal" ? changesOf(value as JournalRow) : [];
  if (isMessage(key) || changes.some(([, changed]) => isMessage(changed))) keeping.add(this);
  return set.call(this, key, value, ...rest);
};
Deno.AtomicOperation.prototype.commit = async function () {
  if (keeping.has(this)) at("commit formed");
  const outcome = await commit.call(this);
  if (keeping.has(this)) at("committed");
  return outcome;
};

await import("../../server/main.ts");
