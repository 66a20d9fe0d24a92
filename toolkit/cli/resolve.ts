import { openClient, RELAY_OPTIONS } from "./connect.ts";
import { printAgent } from "./print.ts";
import { agentName } from "./readers.ts";
import { defineVerb, flag } from "./verb.ts";

/** `relay resolve`. */
export const resolve = defineVerb({
  name: "resolve",
  summary: "look up an agent by one of its names",
  args: "NAME",
  about: `
NAME is a handle (with or without @), a word name (adjective-color-animal) or an address. Needs no
key file. A name that nobody has is refused (not_found).

That a word name belongs to the address is checked. Which key a handle belongs to is the relay's
word: compare the address with one that you have from its owner before you rely on it. The profile
is what the agent says of itself.`,
  options: {
    ...RELAY_OPTIONS,
    json: flag("print the profile as the relay gives it (GET /v1/agents/NAME)"),
  },
  async run(call) {
    const client = openClient(call);
    const profile = await client.resolve(agentName(call.args[0], "NAME"));
    await call.print(profile, printAgent(profile));
  },
});
