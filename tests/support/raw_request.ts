/** Requests as bytes on the wire, for what fetch would normalise before sending. */
import { type Answer, readAnswer } from "./answer.ts";
import { connectRaw, type RawAnswer } from "./raw_http.ts";

export interface RawRequest {
  method: string;
  /** The request target as it is, query included. */
  target: string;
  /** Headers in order; a name may occur twice. Host, Content-Length and Connection are added. */
  headers?: readonly (readonly [string, string])[] | Record<string, string>;
  body?: Uint8Array;
  /** The Host header; 127.0.0.1 unless given. */
  host?: string;
}

/** The bytes of a request; the connection closes after its answer. */
export function composeRequest(
  { method, target, headers = [], body = new Uint8Array(0), host = "127.0.0.1" }: RawRequest,
): Uint8Array {
  const given = Array.isArray(headers) ? headers : Object.entries(headers);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `Host: ${host}`,
    ...given.map(([name, value]) => `${name}: ${value}`),
    ...(body.length === 0 ? [] : [`Content-Length: ${body.length}`]),
    "Connection: close",
  ];
  const head = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

/** Sends a request over a connection of its own. @throws Error when the server closes without an answer */
export async function askRaw(port: number, request: RawRequest): Promise<Answer> {
  using connection = await connectRaw(port);
  await connection.send(composeRequest(request));
  const answer = await connection.answer(request.method === "HEAD");
  if (answer === undefined) throw new Error("the server closed the connection without an answer");
  return fromRaw(answer);
}

/** Converts a raw answer to an Answer. */
export function fromRaw({ status, headers, body }: RawAnswer): Answer {
  return readAnswer(status, new Headers([...headers]), body);
}
