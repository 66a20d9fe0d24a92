/** The checking worker as its host sees it. */
import type { FromWorker, ToWorker } from "./auth_messages.ts";
import authWorker from "./auth_worker.ts" with { type: "text" };
import checkAuth from "./check_auth.ts" with { type: "text" };
import concludeAuth from "./conclude_auth.ts" with { type: "text" };
import dnsForLibrary from "./dns_for_library.ts" with { type: "text" };
import fromDomain from "./from_domain.ts" with { type: "text" };
import relaxedBody from "./relaxed_body.ts" with { type: "text" };
import signatureTags from "./signature_tags.ts" with { type: "text" };
import splitMessage from "./split_message.ts" with { type: "text" };

export interface WorkerEvents {
  said(message: FromWorker): void;
  /** It has ended, or what it says cannot be read: nothing more comes. */
  died(failure: unknown): void;
}

export interface AuthWorker {
  /** @param moved buffers that the worker takes over */
  post(message: ToWorker, moved?: Transferable[]): void;
  terminate(): void;
}

export type StartAuthWorker = (events: WorkerEvents) => AuthWorker;

/** Modules of the program, each after those that it imports. */
const MODULES: readonly [name: string, text: unknown][] = [
  ["signature_tags.ts", signatureTags],
  ["split_message.ts", splitMessage],
  ["relaxed_body.ts", relaxedBody],
  ["from_domain.ts", fromDomain],
  ["dns_for_library.ts", dnsForLibrary],
  ["conclude_auth.ts", concludeAuth],
  ["check_auth.ts", checkAuth],
  ["auth_worker.ts", authWorker],
];

let program: string | undefined;

/**
 * The program as one URL: modules of files would need the permission to read these files, in a worker
 * that has none. Libraries need none, and keep their names. Types are left out: they were checked where
 * the files stand.
 */
function programUrl(): string {
  const urls = new Map<string, string>();
  for (const [name, text] of MODULES) {
    const inlined = String(text)
      .replace(/^import type [^"]*"\.[^"]*";$/gm, "")
      .replace(/from "\.\/([a-z_]+\.ts)";$/gm, (_, imported) => `from "${urls.get(imported)}";`);
    const unchecked = `// @ts-nocheck: see above\n${inlined}`;
    urls.set(name, `data:application/typescript,${encodeURIComponent(unchecked)}`);
  }
  return urls.get("auth_worker.ts")!;
}

/** Starts the worker, with no permission at all. @throws what the runtime throws where it has no workers */
export const startAuthWorker: StartAuthWorker = (events) => {
  const options: WorkerOptions & { deno: { permissions: "none" } } = {
    type: "module",
    name: "mail-auth",
    deno: { permissions: "none" },
  };
  const worker = new Worker(program ??= programUrl(), options);
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => events.said(data);
  worker.onerror = (event) => {
    event.preventDefault(); // else it ends this process too
    events.died(new Error(event.message));
  };
  worker.onmessageerror = () => events.died(new Error("a message that cannot be read"));
  return {
    post: (message, moved = []) => worker.postMessage(message, moved),
    terminate: () => worker.terminate(),
  };
};
