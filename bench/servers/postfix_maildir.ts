/** Postfix of Debian as the domain's mail server: what comes by SMTP goes into one maildir, whoever it is for. */
import { join } from "node:path";
import { startPostfixServer } from "./postfix_server.ts";

export interface PostfixMaildir extends AsyncDisposable {
  /** Where it takes mail for `agents.test`. */
  port: number;
  /**
   * Resolves when so many more mails than at the last call are in the maildir, each written durably.
   * @throws Error with its log when they are not within a minute
   */
  delivered(count: number): Promise<void>;
  log(): Promise<string>;
}

/** The user of Debian whose mails nobody's are. */
const NOBODY = 65_534;
const GIVES_UP_MS = 60_000;

/**
 * As Debian has it, without look-ups of the client's name, bounds of one client, and the second that a
 * client waits while the queue is longer than what leaves it: what is measured is how fast it can be.
 * @param settings lines of main.cf, after the others
 * @throws NotMeasured where there is no postfix, or it may not be started
 */
export async function startPostfixMaildir(settings = ""): Promise<PostfixMaildir> {
  const postfix = await startPostfixServer(
    (folder) => `
virtual_mailbox_domains = agents.test
virtual_mailbox_base = ${folder}/mails
virtual_mailbox_maps = static:box/
virtual_uid_maps = static:${NOBODY}
virtual_gid_maps = static:${NOBODY}
virtual_transport = virtual
${settings}
`,
    "virtual unix - n n - - virtual",
  );
  const box = join(postfix.folder, "mails", "box");
  await Deno.mkdir(join(postfix.folder, "mails"));
  await Deno.chown(join(postfix.folder, "mails"), NOBODY, NOBODY);
  let before = 0;
  return {
    port: postfix.port,
    async delivered(count) {
      const wanted = before + count;
      const untilMs = performance.now() + GIVES_UP_MS;
      while (await countOf(join(box, "new")) < wanted) {
        if (performance.now() > untilMs) {
          throw new Error(`postfix did not deliver:\n${(await postfix.log()).slice(-2_000)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      before = wanted;
    },
    log: () => postfix.log(),
    [Symbol.asyncDispose]: () => postfix[Symbol.asyncDispose](),
  };
}

/** @returns 0 for a folder that is not there yet */
async function countOf(folder: string): Promise<number> {
  let count = 0;
  try {
    for await (const _ of Deno.readDir(folder)) count++;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return count;
}
