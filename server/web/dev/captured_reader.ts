/** Reads captured mail: what has HTML or is long in a worker, so that nobody's mail holds the relay. */
import { Buffer } from "node:buffer";
import { openWorker } from "../../base/workers/open_worker.ts";
import type { MailContent } from "./mail_content.ts";

/** A shorter text is read in a ms or two. */
const SHORT_BYTES = 8 * 1024;
const PROGRAM = new URL("./read_program.ts", import.meta.url);

/** Loaded when it is wanted: what reads HTML is no part of the program of the main thread. */
async function readHere(raw: Uint8Array): Promise<MailContent> {
  const { readMail } = await import("./read_mail.ts");
  return await readMail(raw);
}

export class CapturedReader {
  #worker: Worker | null = null;
  /** Whether it could not be started, or died: all is read here then. */
  #isLost = false;
  #isClosed = false;
  /** What the worker was asked for, in that order. */
  #asked: { raw: Uint8Array; resolve: (content: MailContent | Promise<MailContent>) => void }[] =
    [];

  /** Reads the beginning of a message (RFC 5322); what cannot be read shows nothing. */
  async read(raw: Uint8Array): Promise<MailContent> {
    const isSimple = raw.length <= SHORT_BYTES &&
      !/html/i.test(Buffer.from(raw).toString("latin1"));
    if (isSimple || this.#isLost) return await readHere(raw);
    if (this.#isClosed) return UNREAD;
    this.#worker ??= openWorker<MailContent>(PROGRAM, { name: "captured mail" }, {
      message: (content) => this.#asked.shift()?.resolve(content),
      died: () => this.#lose(),
    });
    const { promise, resolve } = Promise.withResolvers<MailContent>();
    this.#asked.push({ raw, resolve });
    this.#worker.postMessage(raw);
    return await promise;
  }

  /** Ends the worker; what it has not read is not read any more. */
  close(): void {
    this.#isClosed = true;
    this.#worker?.terminate();
    this.#worker = null;
    for (const { resolve } of this.#asked.splice(0)) resolve(UNREAD);
  }

  #lose(): void {
    this.#isLost = true;
    this.#worker?.terminate();
    this.#worker = null;
    for (const { raw, resolve } of this.#asked.splice(0)) resolve(readHere(raw));
  }
}

/** What is shown of a mail that was not read; as it was sent it is kept all the same. */
const UNREAD: MailContent = {
  from: "",
  to: "",
  subject: "",
  text: "",
  isCut: true,
  hasHtml: false,
  attachments: [],
  links: [],
  codes: [],
  sizeBytes: 0,
};
