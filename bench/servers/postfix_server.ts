/** Postfix of Debian that takes mail by SMTP at a port of its own, without bounds of one client. */
import { findPart } from "../../tests/support/part.ts";
import { type Postfix, startPostfix } from "../../tests/support/postfix.ts";
import { NotMeasured } from "../row.ts";

export interface PostfixServer extends Postfix {
  port: number;
}

/**
 * As Debian has it, without look-ups of the client's name and the second that a client waits while its queue is long.
 * @param settings lines of main.cf, from what folder it has
 * @param services lines of master.cf beside those that senders and takers of mail need
 * @throws NotMeasured where there is no postfix, or it may not be started
 */
export async function startPostfixServer(
  settings: (folder: string) => string,
  services = "",
): Promise<PostfixServer> {
  if (findPart("postfix") === null) throw new NotMeasured("no postfix here");
  if (Deno.uid() !== 0) throw new NotMeasured("postfix is started by root alone");
  const port = freePort();
  const postfix = await startPostfix(
    (folder) => `
myhostname = mx.agents.test
smtpd_peername_lookup = no
smtpd_client_connection_count_limit = 0
in_flow_delay = 0s
message_size_limit = 26214400
${settings(folder)}
`,
    `127.0.0.1:${port} inet n - n - - smtpd
anvil unix - - n - 1 anvil
proxymap unix - - n - - proxymap
${services}`,
  );
  return { ...postfix, port };
}

/** Free a moment ago: postfix cannot be asked to choose one. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}
