/** A request whose body is held back, as a client with patience and a leaked credential does. */
import { connectRaw, type RawAnswer } from "./raw_http.ts";
import type { TestRelay } from "./relay.ts";

export interface HeldRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** ASCII. */
  body: string;
}

/**
 * Sends a request without most of its body, until the relay has it.
 * @returns sends the rest and gives the answer; undefined where the relay closed instead
 */
export async function holdRequest(
  { port, nextRequests }: Pick<TestRelay, "port" | "nextRequests">,
  { method, path, headers, body }: HeldRequest,
): Promise<() => Promise<RawAnswer | undefined>> {
  const connection = await connectRaw(port);
  const arrived = nextRequests();
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Content-Length: ${body.length}`,
    "Connection: close",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  await connection.send(`${head.join("\r\n")}\r\n\r\n${body[0]}`);
  await arrived;
  return async () => {
    using closing = connection;
    await closing.send(body.slice(1));
    return await closing.answer();
  };
}
