/** HTTP over a bare TCP connection, for what fetch would normalise or refuse to send. */

export interface RawAnswer {
  status: number;
  /** Names in lower case; a repeated header joined by ", ". */
  headers: ReadonlyMap<string, string>;
  body: string;
}

export interface RawConnection extends Disposable {
  /** Sends bytes as they are, a string as UTF-8. Stops where the server takes no more. */
  send(bytes: string | Uint8Array): Promise<void>;
  /** Closes the sending side. */
  finish(): Promise<void>;
  /**
   * The next answer; undefined when the server closed instead.
   * @param bodiless true for an answer to HEAD
   */
  answer(bodiless?: boolean): Promise<RawAnswer | undefined>;
}

/** A test that waits this long for the server has found a connection that hangs. */
const HANG_MS = 60_000;

/** A connection to a server on 127.0.0.1. */
export async function connectRaw(port: number): Promise<RawConnection> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let received: Uint8Array = new Uint8Array(0);
  let ended = false;

  async function receive(): Promise<void> {
    const chunk = new Uint8Array(65_536);
    const hung = setTimeout(() => connection.close(), HANG_MS);
    let size: number | null;
    try {
      size = await connection.read(chunk);
    } catch (error) {
      if (error instanceof Deno.errors.ConnectionReset) size = null;
      else throw new Error(`nothing came from the server within ${HANG_MS} ms`, { cause: error });
    } finally {
      clearTimeout(hung);
    }
    if (size === null) ended = true;
    else received = concat(received, chunk.subarray(0, size));
  }

  async function answer(bodiless = false): Promise<RawAnswer | undefined> {
    let head: Head | undefined;
    while ((head = parseHead(received)) === undefined) {
      if (ended) return undefined;
      await receive();
    }
    const interim = head.status < 200 || head.status === 204 || head.status === 304;
    const bodyBytes = bodiless || interim ? 0 : Number(head.headers.get("content-length") ?? 0);
    while (received.length < head.sizeBytes + bodyBytes && !ended) await receive();
    const body = received.subarray(head.sizeBytes, head.sizeBytes + bodyBytes);
    received = received.slice(head.sizeBytes + bodyBytes);
    return { status: head.status, headers: head.headers, body: new TextDecoder().decode(body) };
  }

  async function send(bytes: string | Uint8Array): Promise<void> {
    let rest = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    try {
      while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
    } catch (error) {
      const { BrokenPipe, ConnectionReset } = Deno.errors;
      // The server takes no more: its answer says why.
      if (!(error instanceof BrokenPipe || error instanceof ConnectionReset)) throw error;
    }
  }

  return {
    send,
    finish: () => connection.closeWrite(),
    answer,
    [Symbol.dispose]() {
      try {
        connection.close();
      } catch {
        // The timer for hanging connections closed it.
      }
    },
  };
}

/** One request on a connection of its own. */
export async function exchange(
  port: number,
  request: string | Uint8Array,
): Promise<RawAnswer | undefined> {
  using connection = await connectRaw(port);
  await connection.send(request);
  const bodiless = typeof request === "string" && request.startsWith("HEAD ");
  return await connection.answer(bodiless);
}

/** The `error.code` of an answer. */
export function errorCode(answer: RawAnswer | undefined): string {
  return JSON.parse(answer?.body ?? "{}").error?.code;
}

interface Head {
  status: number;
  headers: Map<string, string>;
  /** Bytes of the head, its empty line included. */
  sizeBytes: number;
}

function parseHead(bytes: Uint8Array): Head | undefined {
  const text = new TextDecoder("latin1").decode(bytes);
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [statusLine, ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers.set(name, headers.has(name) ? `${headers.get(name)}, ${value}` : value);
  }
  return { status: Number(statusLine!.split(" ")[1]), headers, sizeBytes: end + 4 };
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
