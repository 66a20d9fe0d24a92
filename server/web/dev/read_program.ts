/** The program of the worker that reads captured mail, without permissions: see captured_reader.ts. */
import type { MailContent } from "./mail_content.ts";
import { readMail } from "./read_mail.ts";

interface WorkerScope {
  onmessage: (event: MessageEvent<Uint8Array>) => void;
  postMessage(content: MailContent): void;
}

const scope = globalThis as unknown as WorkerScope;

/** One at a time and in order, as they are asked for: an answer belongs to the first that has none. */
let last: Promise<void> = Promise.resolve();
scope.onmessage = ({ data: raw }) => {
  last = last.then(async () => scope.postMessage(await readMail(raw)));
};
