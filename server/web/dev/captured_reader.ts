/** Reads captured mail: with HTML or of some length in a worker, so that no mail holds up the relay. */
import { Buffer } from "node:buffer";
import { JobWorkers } from "../../base/workers/job_workers.ts";
import { workerOf } from "../../base/workers/start_worker.ts";
import { type MailContent, NO_PARTS, READ_BYTES } from "./mail_content.ts";

/** A shorter text is read in a ms or two. */
const SHORT_BYTES = 8 * 1024;
const PROGRAM = new URL("./read_program.ts", import.meta.url);

/** Loaded when it is wanted: what reads HTML is no part of the program of the main thread. */
const readerHere = () => import("./read_mail.ts");

export class CapturedReader {
  readonly #workers = new JobWorkers<{ raw: Uint8Array }, never, MailContent>({
    start: workerOf(PROGRAM, { name: "captured mail" }),
    here: async ({ raw }) => (await readerHere()).readInSteps(raw),
    onLoss: () => {},
  });

  /** Reads the beginning of a message (RFC 5322); what cannot be read shows nothing. */
  async read(raw: Uint8Array): Promise<MailContent> {
    const isSimple = raw.length <= SHORT_BYTES &&
      !/html/i.test(Buffer.from(raw).toString("latin1"));
    if (isSimple) return await (await readerHere()).readMail(raw);
    const beginning = raw.subarray(0, READ_BYTES + 1);
    const queued = { owner: "", sizeBytes: beginning.length };
    const end = await this.#workers.run({ raw: beginning }, queued);
    return end.type === "result" ? end.result : UNREAD;
  }

  /** Ends the worker; what it has not read is not read any more. */
  close(): void {
    this.#workers.close();
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
  parts: NO_PARTS,
  sizeBytes: 0,
};
