import { openSigningClient, SIGNING_OPTIONS } from "./connect.ts";
import { printAgent } from "./print.ts";
import { defineVerb, flag } from "./verb.ts";

/** `relay whoami`. */
export const whoami = defineVerb({
  name: "whoami",
  summary: "show how the relay knows you",
  about: "A key that is not registered is refused (unknown_agent).",
  options: {
    ...SIGNING_OPTIONS,
    json: flag("print the record as the relay gives it (GET /v1/whoami)"),
  },
  async run(call) {
    const { client, state, relay } = await openSigningClient(call);
    const record = await client.whoami();
    await call.print(record, printAgent(record));
    await state.keepHome({ relay, handle: record.handle, word_name: record.word_name });
  },
});
