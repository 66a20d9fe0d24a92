/** A client of server-sent events, written for the tests from the WHATWG's rules of parsing. */
export interface StreamEvent {
  event: string;
  id: string | undefined;
  // deno-lint-ignore no-explicit-any -- tests assert the fields one by one
  data: any;
}

export interface EventStream extends AsyncDisposable {
  status: number;
  headers: Headers;
  /** Next event; null at the end. Comments are kept apart. */
  next(): Promise<StreamEvent | null>;
  comments: string[];
  close(): Promise<void>;
}

export async function openStream(
  url: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const stop = new AbortController();
  const answer = await fetch(url, {
    headers: { Authorization: `Bearer ${key}`, Accept: "text/event-stream", ...headers },
    signal: stop.signal,
  });
  return readEvents(answer, stop);
}

export function readEvents(answer: Response, stop = new AbortController()): EventStream {
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  const comments: string[] = [];
  let text = "";
  async function next(): Promise<StreamEvent | null> {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const found: Record<string, string> = {};
        for (const line of block.split("\n")) {
          const [, name, value] = /^([^:]*):? ?(.*)$/.exec(line)!;
          if (name === "") comments.push(value!);
          else found[name!] = (found[name!] === undefined ? "" : `${found[name!]}\n`) + value;
        }
        if (found["data"] === undefined) continue;
        return {
          event: found["event"] ?? "message",
          id: found["id"],
          data: JSON.parse(found["data"]),
        };
      }
      const { done, value } = await reader.read();
      if (done) return null;
      text += decoder.decode(value, { stream: true });
    }
  }
  async function close(): Promise<void> {
    await reader.cancel().catch(() => {});
    stop.abort();
  }
  return {
    status: answer.status,
    headers: answer.headers,
    next,
    comments,
    close,
    [Symbol.asyncDispose]: close,
  };
}
