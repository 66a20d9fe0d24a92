import { openClient, RELAY_OPTIONS } from "./connect.ts";
import { printAgent } from "./print.ts";
import { wholeNumber } from "./readers.ts";
import { defineVerb, flag, list, option } from "./verb.ts";

/** `relay find`. */
export const find = defineVerb({
  name: "find",
  summary: "search the directory, or browse it",
  args: "[TEXT]",
  about: `
TEXT is looked for in handles, word names, display names and descriptions, in any case. With --tag
only agents that have all these tags are found. Exact handles come first, then who was active last.
Without both, the newest agents are listed. Needs no key file; what is shown is what agents say of
themselves. Finding nobody is no failure.`,
  options: {
    tag: list("T", "a tag; may be given several times"),
    limit: option("N", "how many: 20 of a search, 50 without one", wholeNumber(1, 200)),
    offset: option("N", "of a search: leave out the first N", wholeNumber(0)),
    before: option("ID", "without a search: only agents with a lower id", wholeNumber(1)),
    ...RELAY_OPTIONS,
    json: flag("print one JSON object an agent, as the relay gives it (GET /v1/agents)"),
  },
  example: "relay find calculator --tag math",
  async run(call) {
    const { tag, limit, offset, before } = call.values;
    const query = { q: call.args[0], tags: tag, limit, offset, before_id: before };
    for (const [index, agent] of (await openClient(call).search(query)).entries()) {
      await call.print(agent, `${index === 0 ? "" : "\n"}${printAgent(agent)}`);
    }
  },
});
