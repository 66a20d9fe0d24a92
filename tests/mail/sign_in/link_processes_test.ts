/** Links over two relay processes on one file and a real SMTP server, and over kill -9. */
import assert from "node:assert/strict";
import { accepted, assertMailRefused } from "../../support/mail_caller.ts";
import { askForLink, PROGRAM } from "../../support/mail_links.ts";
import { askMail, signRegistration } from "../../support/mail_relay.ts";
import { delay } from "../../support/pace.ts";
import { startRelayProcesses } from "../../support/relay_processes.ts";
import { parseMail, startSmtpServer, type TestSmtpServer } from "../../support/smtp_server.ts";

const EMAIL = "owner@example.org";

function env({ url }: TestSmtpServer): Record<string, string> {
  return {
    RELAY_SMTP_URL: url,
    RELAY_MAIL_FROM: "relay@example.org",
    RELAY_MAIL_DOMAIN: "mail.example.org",
  };
}

/** Path of the link in the nth mail that arrives. */
async function linkIn(smtp: TestSmtpServer, n: number): Promise<string> {
  while (smtp.received.length < n) await delay(5);
  const { text } = await parseMail(smtp.received[n - 1]!);
  const { pathname, search } = new URL(/http\S+\?token=[^\s#]+/.exec(text!)![0]);
  return pathname + search;
}

Deno.test("of 20 that follow a link at two processes at once one wins, and so for a claim", async () => {
  await using smtp = await startSmtpServer();
  await using world = await startRelayProcesses(2, { env: env(smtp) });
  const urls = world.targets.map(({ url }) => url);
  const followAtOnce = async (path: string) => {
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, i) => askMail(urls[i % 2]!, "GET", path, { headers: PROGRAM }),
      ),
    );
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1, JSON.stringify(answers.map(({ status }) => status)));
    for (const answer of answers) {
      if (answer.status !== 200) assertMailRefused(answer, "link_expired");
    }
    return won[0]!.body;
  };
  accepted(await askForLink({ url: urls[0]! }, EMAIL), 202);
  const signedIn = await followAtOnce(await linkIn(smtp, 1));
  assert.equal(signedIn.verified_email, EMAIL);
  const body = signRegistration(Date.now());
  const { api_key } = accepted(
    await askMail(urls[0]!, "POST", "/v1/mail/agents/register", { body }),
    201,
  );
  const asked = { key: api_key, body: { email: EMAIL } };
  accepted(await askMail(urls[1]!, "POST", "/v1/mail/org/claim", asked), 202);
  const org = await followAtOnce(await linkIn(smtp, 2));
  assert.deepEqual([org.trial, org.verified_email], [false, EMAIL]);
  for (const url of urls) {
    for (const key of [api_key, signedIn.api_key]) {
      assert.equal(
        accepted(await askMail(url, "GET", "/v1/mail/org", { key }), 200).verified_email,
        EMAIL,
      );
    }
  }
});

Deno.test("a link that was acknowledged before kill -9 is mailed, works at the other process, and once", async () => {
  await using smtp = await startSmtpServer();
  await using world = await startRelayProcesses(2, { env: env(smtp) });
  const [one, two] = world.relays as [typeof world.relays[0], typeof world.relays[0]];
  smtp.refuse({ at: "recipient", code: 451 });
  accepted(await askForLink(one, EMAIL), 202);
  await one.kill("SIGKILL");
  smtp.refuse(null);
  const path = await linkIn(smtp, 1);
  accepted(await askMail(two.url, "GET", path), 200);
  await two.kill("SIGKILL");
  const { relay } = await world.add();
  assertMailRefused(await askMail(relay.url, "GET", path), "link_expired");
});
