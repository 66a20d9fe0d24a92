/** A store that stops answering, or fails, on a test's order, like a KV server out of reach. */
import { rawOf } from "./read_through.ts";

export interface SilentStore {
  kv: Deno.Kv;
  /** Answers so many calls more, and then none until speak() or failCommits() is called. */
  fallSilentAfter(calls: number): void;
  /**
   * As fallSilentAfter(0), but commits take effect at once: their answers alone are lost, and they are
   * repeated at speak(), as Deno's client of a KV server does.
   */
  fallSilentHavingStored(): void;
  /** Answers so many calls more, and fails each further one, in such words, until speak() is called. */
  failAfter(calls: number, message: string): void;
  /** Calls that wait for an answer. */
  readonly waiting: number;
  /** Resolves when a call waits, or fails. */
  reached(): Promise<void>;
  /** Does what waits only now, answers it, and all that comes. */
  speak(): void;
  /** As speak(), but of the commits that wait nothing is done: they fail. */
  failCommits(): void;
}

export function silentStore(given: Deno.Kv): SilentStore {
  const kv = rawOf(given);
  let left = Infinity;
  let storesFirst = false;
  let failure: string | null = null;
  const waiting: { isCommit: boolean; call: PromiseWithResolvers<void> }[] = [];
  let reached: (() => void)[] = [];

  function tellReached(): void {
    for (const tell of reached.splice(0)) tell();
  }

  async function transaction(isCommit = false): Promise<void> {
    if (left-- > 0) return;
    if (failure !== null) {
      tellReached();
      throw new TypeError(failure);
    }
    const call = Promise.withResolvers<void>();
    waiting.push({ isCommit, call });
    tellReached();
    await call.promise;
  }

  function end(areCommitsDone: boolean): void {
    left = Infinity;
    storesFirst = false;
    failure = null;
    for (const { isCommit, call } of waiting.splice(0)) {
      if (areCommitsDone || !isCommit) call.resolve();
      else call.reject(new TypeError("error sending request"));
    }
    reached = [];
  }

  function atomic(): Deno.AtomicOperation {
    const operation = kv.atomic();
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      if (storesFirst && left <= 0) await commit();
      await transaction(true);
      return await commit();
    };
    return operation;
  }

  const slow = {
    atomic,
    async get(...args: Parameters<Deno.Kv["get"]>) {
      await transaction();
      return await kv.get(...args);
    },
    async getMany(...args: Parameters<Deno.Kv["getMany"]>) {
      await transaction();
      return await kv.getMany(...args);
    },
    async *list(...args: Parameters<Deno.Kv["list"]>) {
      await transaction();
      yield* kv.list(...args);
    },
    async set(...args: Parameters<Deno.Kv["set"]>) {
      await transaction();
      return await kv.set(...args);
    },
    async delete(...args: Parameters<Deno.Kv["delete"]>) {
      await transaction();
      return await kv.delete(...args);
    },
  };
  return {
    kv: new Proxy(kv, {
      get(target, name) {
        if (Object.hasOwn(slow, name)) return slow[name as keyof typeof slow];
        const member = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    }),
    fallSilentAfter: (calls) => void (left = calls),
    fallSilentHavingStored() {
      left = 0;
      storesFirst = true;
    },
    failAfter(calls, message) {
      left = calls;
      failure = message;
    },
    get waiting() {
      return waiting.length;
    },
    reached: () =>
      waiting.length > 0 ? Promise.resolve() : new Promise((resolve) => reached.push(resolve)),
    speak: () => end(true),
    failCommits: () => end(false),
  };
}
