import { rawOf } from "./read_through.ts";

/** A store that calls a function before the nth list of a mailbox. */
export function interruptedKv(
  kv: Deno.Kv,
  atList: number,
  interrupt: () => Promise<void>,
): Deno.Kv {
  let lists = 0;
  return new Proxy(rawOf(kv), {
    get(target, name) {
      if (name !== "list") {
        const value = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async function* (selector: { prefix?: Deno.KvKey }, options: Deno.KvListOptions) {
        const box = selector.prefix?.[0];
        if ((box === "outbox" || box === "inbox") && ++lists === atList) await interrupt();
        yield* target.list(selector as Deno.KvListSelector, options);
      };
    },
  });
}
