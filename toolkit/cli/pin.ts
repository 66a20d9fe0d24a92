import { parseIdentifier } from "../client/identifier.ts";
import { checkedPin } from "../client/pins.ts";
import { InputError, UsageError } from "./failure.ts";
import { pinsFile } from "./pins_file.ts";
import { agentName } from "./readers.ts";
import { defineVerb, flag } from "./verb.ts";

/** `relay pin`. */
export const pin = defineVerb({
  name: "pin",
  summary: "keep the addresses of agents that you know",
  args: "[FIRST] [SECOND]",
  usage: `ADDRESS [--json]
       relay pin NAME ADDRESS [--json]
       relay pin [--json]
       relay pin --remove ADDRESS-OR-NAME [--json]`,
  about: `
NAME is a handle (with or without @) or a word name. Take the ADDRESS from its owner: which key a
handle belongs to is otherwise the relay's word. Without arguments all pins are listed.

What is pinned, in any spelling, holds for every relay and key file:
  send              sends to the pinned address and asks no relay for it
  inbox, verify     "signer pinned" for the pinned key, "signer MISMATCH" for another key under a
                    pinned name. A key pinned by its ADDRESS alone is known under every name, one
                    pinned by a NAME under that name. 'verify --from' is stronger
  outbox            tells where a pinned name is shown with another key

A pin is never changed: remove it first. No relay is asked. The file is what RELAY_PINS_FILE names,
else ~/.config/relay/pins.json.`,
  options: {
    remove: flag("remove a name; of an address all its pins"),
    json: flag('print one JSON object a pin: {"name": ... or null, "address": ...}'),
  },
  exit: `0, or 2 for wrong usage, a name that is pinned to another address, and a file that is
none`,
  example: "relay pin @some_agent FVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z",
  async run({ host, values, args: [first, second], print }) {
    const file = pinsFile(host);
    const pins = values.remove
      ? await file.change((pinned) => remove(pinned, first, second))
      : first === undefined
      ? [...await file.read()]
      : await file.change((pinned) => add(pinned, first, second));
    for (const [name, address] of pins) {
      if (name === address) await print({ name: null, address }, `${address}\n`);
      else await print({ name, address }, `${shown(name)}  ${address}\n`);
    }
  },
});

/** A handle, word name or address in its normal spelling, and the address it stands for. */
type Pin = [name: string, address: string];

function add(pinned: Map<string, string>, first: string, second: string | undefined): Pin[] {
  const { text, form } = identifierOf(first, second === undefined ? "ADDRESS" : "NAME");
  if (second === undefined && form !== "address") {
    throw new UsageError(
      `which address has ${first}? Get it from its owner and pass it too; 'relay resolve ${first}' ` +
        "shows what the relay says",
    );
  }
  const address = second ?? text;
  try {
    checkedPin(first, address);
  } catch (thrown) {
    if (!(thrown instanceof TypeError)) throw thrown;
    throw new UsageError(
      form === "word_name" && isAddress(address)
        ? `${first} is no word name of ${address}`
        : form === "address"
        ? "give the name first, then its address"
        : "ADDRESS must be an address (base58 of 32 bytes)",
    );
  }
  const before = pinned.get(text) ?? address;
  if (before !== address) {
    throw new InputError(
      `${shown(text)} is pinned to ${before}, not to ${address}: when you are sure of the new ` +
        `one, remove the old one first, with 'relay pin --remove ${first}'`,
    );
  }
  pinned.set(text, address);
  return [[text, address]];
}

function remove(
  pinned: Map<string, string>,
  first: string | undefined,
  second: string | undefined,
): Pin[] {
  if (first === undefined) throw new UsageError("ADDRESS-OR-NAME is missing");
  if (second !== undefined) throw new UsageError(`unexpected argument '${second}'`);
  const { text } = identifierOf(first, "NAME");
  // An address stands for all its pins.
  const removed = [...pinned].filter((pin) => pin.includes(text));
  if (removed.length === 0) throw new InputError(`${shown(text)} is not pinned`);
  for (const [name] of removed) pinned.delete(name);
  return removed;
}

function identifierOf(text: string, label: string) {
  return parseIdentifier(agentName(text, label));
}

function isAddress(text: string): boolean {
  try {
    return parseIdentifier(text).form === "address";
  } catch {
    return false;
  }
}

function shown(name: string): string {
  return parseIdentifier(name).form === "handle" ? `@${name}` : name;
}
