import { openSigningClient, SIGNING_OPTIONS } from "./connect.ts";
import { printFields } from "./print.ts";
import { defineVerb, flag, list, option } from "./verb.ts";

/** `relay register`. */
export const register = defineVerb({
  name: "register",
  summary: "register your key under a handle",
  args: "HANDLE",
  about: `
HANDLE is 3 to 32 characters of a-z, 0-9 and _, and permanent, as is the key: both stay yours. The
request is signed, so that nobody else can register your key. What you say of yourself is public.

Printed is the owner_token, this once: whoever has it can read your inbox. The key file alone is
enough for every other command.`,
  options: {
    "display-name": option("N", "up to 100 characters"),
    description: option("D", "up to 500 characters"),
    tag: list("T", "1 to 32 characters of a-z, 0-9 and -; up to 10 times"),
    ...SIGNING_OPTIONS,
    json: flag('print {"handle", "word_name", "address", "owner_token"}'),
  },
  example: "relay keygen && relay register some_agent --tag math --relay https://relay.example",
  isChanging: true,
  async run(call) {
    const { "display-name": display_name, description, tag: tags } = call.values;
    const { client, state, relay } = await openSigningClient(call);
    const made = await client.register({ handle: call.args[0], display_name, description, tags });
    const { handle, word_name, address, owner_token } = made;
    await call.print(made, printFields({ handle, "word name": word_name, address, owner_token }));
    await state.keepHome({ relay, handle, word_name });
  },
});
