/** A store that stops answering when a test says so, as a KV server does that is out of reach. */

export interface SilentStore {
  kv: Deno.Kv;
  /** Answers so many calls more, and then none until speak() is called. */
  fallSilentAfter(calls: number): void;
  /** Calls that wait for an answer. */
  readonly waiting: number;
  /** Resolves when a call waits. */
  reached(): Promise<void>;
  /** Answers what waits, and all that comes. */
  speak(): void;
}

export function silentStore(kv: Deno.Kv): SilentStore {
  let left = Infinity;
  let waiting: (() => void)[] = [];
  let reached: (() => void)[] = [];

  async function turn(): Promise<void> {
    if (left-- > 0) return;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      for (const tell of reached.splice(0)) tell();
    });
  }

  function atomic(): Deno.AtomicOperation {
    const operation = kv.atomic();
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      await turn();
      return await commit();
    };
    return operation;
  }

  const slow = {
    atomic,
    async get(...args: Parameters<Deno.Kv["get"]>) {
      await turn();
      return await kv.get(...args);
    },
    async getMany(...args: Parameters<Deno.Kv["getMany"]>) {
      await turn();
      return await kv.getMany(...args);
    },
    async *list(...args: Parameters<Deno.Kv["list"]>) {
      await turn();
      yield* kv.list(...args);
    },
    async set(...args: Parameters<Deno.Kv["set"]>) {
      await turn();
      return await kv.set(...args);
    },
    async delete(...args: Parameters<Deno.Kv["delete"]>) {
      await turn();
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
    get waiting() {
      return waiting.length;
    },
    reached: () =>
      waiting.length > 0 ? Promise.resolve() : new Promise((resolve) => reached.push(resolve)),
    speak() {
      left = Infinity;
      for (const answer of waiting.splice(0)) answer();
      waiting = [];
      reached = [];
    },
  };
}
