/** schemathesis over the mail area of a relay in local mode, with a key and what it opens. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { handIn, mailText } from "../../support/inbound_mail.ts";
import { isLong } from "../../support/long_test.ts";
import { accepted } from "../../support/mail_caller.ts";
import { NOBODY } from "../../support/key_changes.ts";
import { startMailRelay } from "../../support/mail_relay.ts";
import { pythonOrSkip } from "../../support/python_program.ts";
import { listMessages, newSendingOrg } from "../../support/sending_org.ts";

const SEED = Deno.env.get("PROPERTY_SEED") ?? "1";
const MANY = 1_000_000;

await pythonOrSkip(
  pathOf("schemathesis_requirements.txt"),
  ["schemathesis", "cryptography"],
  "schemathesis finds no mail request that is described as refused and taken, nor an answer otherwise",
  async (run) => {
    await using relay = await startMailRelay({
      clockStartMs: "real",
      deps: { now: Date.now },
      limits: {
        mailSendsPerInboxPerHour: MANY,
        mailRecipientsPerOrgPerDay: MANY,
        mailRecipientsPerOrgFirstDay: MANY,
        mailRecipientsNewOrgsPerDay: MANY,
        mailInboxesPerOrg: MANY,
        mailDraftsPerInbox: MANY,
        mailKeysPerOrg: MANY,
        registrationsPerIpPerHour: MANY,
      },
    });
    const owner = await newSendingOrg(relay);
    const inbox = await owner.inbox({ local_part: "ada" });
    const timestamp = Math.floor(relay.clock.now() / 1000);
    accepted(await handIn(relay.url, { to: [inbox.address], raw: mailText(), timestamp }), 200);
    const [message] = await listMessages(owner, inbox);
    const drafts = `/v1/mail/inboxes/${inbox.id}/drafts`;
    const draft = accepted(await owner.ask("POST", drafts, { body: {} }), 201);
    const hook = await owner.ask("POST", "/v1/mail/webhooks", { body: { url: NOBODY } });
    const ids = {
      inboxes: inbox.id,
      messages: message.id,
      threads: message.thread_id,
      drafts: draft.id,
      webhooks: accepted(hook, 201).id,
    };
    const folder = await Deno.makeTempDir();
    try {
      const config = join(folder, "schemathesis.toml");
      const given = Object.entries(ids).map(([name, id]) =>
        `[[operations]]\ninclude-path-regex = "^/v1/mail/${name}/"\nparameters = { "path.id" = "${id}" }\n`
      );
      await Deno.writeTextFile(config, given.join("\n"));
      const { code, stdout, stderr } = await run([
        pathOf("schemathesis_program.py"),
        relay.url,
        `--config-file=${config}`,
        "run",
        `--header=Authorization: Bearer ${owner.key}`,
        "--include-path-regex=^/v1/mail/(inboxes|messages|threads|drafts|api-keys)",
        // Deleted things answer no other case.
        "--exclude-method=DELETE",
        "--checks=negative_data_rejection,response_schema_conformance,status_code_conformance,not_a_server_error",
        `--seed=${SEED}`,
        `--max-examples=${isLong ? 10 : 3}`,
        "--phases=coverage,fuzzing",
        "--continue-on-failure",
        "--generation-database=none",
        "--no-color",
      ]);
      const failures = stdout.slice(Math.max(0, stdout.indexOf("= FAILURES")));
      assert.equal(code, 0, `${failures}\n${stderr}`);
      const count = Number(/(\d+) generated/.exec(stdout)?.[1]);
      assert.ok(count > 500, stdout);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
