/** A verified org of a relay in a process of its own: the link goes by the next hop. */
import { accepted, MailKeyHolder } from "./mail_caller.ts";
import { PROGRAM } from "./mail_links.ts";
import { askMail, signRegistration } from "./mail_relay.ts";

/**
 * Registers an org, claims it, and follows the link of the mail.
 * @param taken resolves with the next content that the next hop takes
 */
export async function newClaimedOrg(
  { url }: { url: string },
  taken: () => Promise<string>,
  nowMs = Date.now(),
): Promise<MailKeyHolder> {
  const { body } = await askMail(url, "POST", "/v1/mail/agents/register", {
    body: signRegistration(nowMs),
  });
  const owner = new MailKeyHolder(url, body.api_key, body.org_id);
  const content = taken();
  const email = "owner@example.org";
  accepted(await owner.ask("POST", "/v1/mail/org/claim", { body: { email } }), 202);
  const text = (await content).replaceAll("=\r\n", "").replaceAll("=3D", "=");
  const link = /\/v1\/mail\/org\/claim\/confirm\?token=[A-Za-z0-9._-]+/.exec(text);
  accepted(await askMail(url, "GET", link![0], { headers: PROGRAM }), 200);
  return owner;
}
