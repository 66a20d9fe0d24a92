import assert from "node:assert/strict";
import { run } from "../../toolkit/cli/run.ts";
import { type KeyPair, keyPairFromHex } from "../../toolkit/mod.ts";
import type { ClientWorld } from "./client_world.ts";
import { memoryHost, type MemoryHostState } from "./memory_host.ts";

/** A person at a command line, with a key file of their own. */
export class Person {
  readonly files = new Map<string, string | Uint8Array>();

  constructor(readonly world: ClientWorld) {}

  async run(args: readonly string[], state: MemoryHostState = {}) {
    // Coming back within two seconds means a wait; tests of that say so.
    if (args[0] === "inbox") this.world.relay.clock.advance(2_000);
    const host = memoryHost(args, {
      fetch: this.world.fetch,
      clock: this.world.clock,
      files: this.files,
      env: { HOME: "/me", RELAY_URL: this.world.relay.url },
      ...state,
    });
    const code = await run(host);
    return { code, out: host.out, err: host.err };
  }

  /** What a run that must succeed printed. */
  async out(args: readonly string[], state?: MemoryHostState): Promise<string> {
    const { code, out, err } = await this.run(args, state);
    assert.deepEqual([code, err], [0, ""], args.join(" "));
    return out;
  }

  /** The JSON objects that it printed, one a line. */
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  async json(args: readonly string[], state?: MemoryHostState): Promise<any[]> {
    const out = await this.out([...args, "--json"], state);
    return out.trimEnd().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
  }

  get keys(): KeyPair {
    const file = JSON.parse(this.files.get("/me/.config/relay/key.json") as string);
    return keyPairFromHex(file.private_key_hex);
  }
}

/** A person who is registered with a key of their own. */
export async function registered(world: ClientWorld, handle: string): Promise<Person> {
  const person = new Person(world);
  await person.out(["keygen"]);
  await person.out(["register", handle]);
  return person;
}
