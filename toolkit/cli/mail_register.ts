import { registerForMail } from "../client/register_for_mail.ts";
import { openSession, SIGNING_OPTIONS } from "./connect.ts";
import { printFields } from "./print.ts";
import { defineVerb, flag, option } from "./verb.ts";

/** `relay mail register`. */
export const mailRegister = defineVerb({
  name: "mail register",
  summary: "register your key for e-mail inboxes",
  about: `
Makes a trial org: it receives for 24 hours and cannot send, until a person claims it (the relay's
documents say how). Printed is its API key, this once. A key registers once.

A relay without outbound mail refuses with mail_disabled.`,
  options: {
    label: option("L", "names the API key, up to 100 characters"),
    ...SIGNING_OPTIONS,
    json: flag(
      'print {"org_id", "agent_id", "api_key", "key_prefix", "trial", "expires_in_hours", "note"}',
    ),
  },
  isChanging: true,
  async run(call) {
    const { connection, keys } = await openSession(call);
    const made = await registerForMail({ ...connection, keys }, call.values.label);
    const words = printFields({
      org: made.org_id,
      agent: made.agent_id,
      "API key": made.api_key,
      "expires in": `${made.expires_in_hours} hours`,
      note: made.note,
    });
    await call.print(made, words);
  },
});
