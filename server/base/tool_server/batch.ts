/**
 * Batches of protocol 2025-03-26: an array of requests in one HTTP request. Version 2025-06-18
 * removed them.
 */
import { isRecord, RpcCode, rpcError } from "./json_rpc.ts";

const BATCHING_VERSION = "2025-03-26";
const MOST_REQUESTS = 16;

/**
 * Answers the messages of a batch one after the other, each as if it had come alone.
 * @param version MCP-Protocol-Version, null when it was not sent
 * @returns one array; 202 when there is nothing to answer; 400 and one JSON-RPC error for what is
 * no batch
 */
export async function answerBatch(
  messages: readonly unknown[],
  version: string | null,
  answer: (message: unknown) => Promise<Response>,
): Promise<Response> {
  const refusal = refuseBatch(messages, version);
  if (refusal !== null) {
    return rpcError(RpcCode.InvalidRequest, { status: 400, id: null, message: refusal });
  }
  const answers: string[] = [];
  for (const message of messages) {
    const text = await (await answer(message)).text();
    if (text !== "") answers.push(text);
  }
  if (answers.length === 0) return new Response(null, { status: 202 });
  return new Response(`[${answers.join(",")}]`, {
    headers: { "Content-Type": "application/json" },
  });
}

/** Why messages are no batch, in words; null where they are one. */
function refuseBatch(messages: readonly unknown[], version: string | null): string | null {
  if (version !== null && version !== BATCHING_VERSION) {
    return `Invalid Request: batches belong to protocol ${BATCHING_VERSION} alone; send one message a request`;
  }
  if (messages.length === 0 || messages.length > MOST_REQUESTS) {
    return `Invalid Request: a batch has 1 to ${MOST_REQUESTS} messages`;
  }
  if (messages.some((message) => isRecord(message) && message["method"] === "initialize")) {
    return "Invalid Request: initialize comes alone, not in a batch";
  }
  return null;
}
