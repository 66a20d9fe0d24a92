import type { StateFile } from "./state_file.ts";

/**
 * A fetch that remembers which relay a key belongs to: the first one that accepts something signed.
 * It warns once when another relay was given a signature. It warns after the answer, since a relay
 * that cannot be reached has seen nothing.
 *
 * @param relay the origin of the relay that is used now
 * @param warn told the relay that the key belongs to
 */
export function watchRelay(
  fetch: typeof globalThis.fetch,
  state: StateFile,
  relay: string,
  warn: (home: string) => void | Promise<void>,
): typeof globalThis.fetch {
  let isDone = false;
  return async (input, init) => {
    const answer = await fetch(input, init);
    if (isDone || !new Headers(init?.headers).has("x-relay-signature")) return answer;
    // What is wrong with the file, those tell who need it.
    const home = await state.home().catch(() => undefined);
    if (home === undefined && !answer.ok) return answer;
    isDone = true;
    if (home !== undefined && home.relay !== relay) await warn(home.relay);
    if (home === undefined) await state.keepHome({ relay });
    return answer;
  };
}
