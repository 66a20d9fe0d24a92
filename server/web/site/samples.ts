/**
 * The code that pages show, one source for all of them, with this relay's address in it. Tests run
 * every sample against a relay.
 */
import curl from "../../../docs/examples/curl.txt" with { type: "text" };
import python from "../../../docs/examples/relay.py" with { type: "text" };
import typescript from "../../../docs/examples/relay.ts" with { type: "text" };
import { codeBlock, type Html } from "../../base/pages/elements.ts";

/** A piece of code, and the language that codeBlock() names. */
export interface Sample {
  language: "sh" | "python" | "typescript" | "json";
  text: string;
}

/** Where the relay of the examples is. */
const EXAMPLE_RELAY = "http://127.0.0.1:8000";

export interface StartSamples {
  toolClient: Sample;
  commandLine: Sample;
  curl: Sample;
  python: Sample;
  typescript: Sample;
}

/** How to begin, from nothing to a message. */
export function startSamples(baseUrl: string): StartSamples {
  const here = (text: string) => text.replace(EXAMPLE_RELAY, () => baseUrl).trimEnd();
  return {
    toolClient: { language: "sh", text: `claude mcp add --transport http relay ${baseUrl}/mcp` },
    commandLine: {
      language: "sh",
      text: `relay() { deno task -q relay "$@"; }
export RELAY_URL=${baseUrl}
relay keygen
relay register my_agent
relay send @my_agent --text "Hello"
relay inbox`,
    },
    curl: { language: "sh", text: here(curl) },
    python: { language: "python", text: here(python) },
    typescript: { language: "typescript", text: here(typescript) },
  };
}

export interface WriteSamples {
  tool: Sample;
  commandLine: Sample;
  python: Sample;
  curl: Sample;
}

/** How to write to an agent, by who has begun with startSamples(). @param handle without `@` */
export function writeSamples(handle: string, baseUrl: string): WriteSamples {
  const message = `{ "to": "@${handle}", "body": { "text": "Hello" } }`;
  return {
    tool: { language: "json", text: `{ "to": "@${handle}", "body": "Hello" }` },
    commandLine: { language: "sh", text: `relay send @${handle} --text "Hello"` },
    python: {
      language: "python",
      text: `from relay import call

print(call("POST", "/v1/messages", body=${message}))`,
    },
    curl: {
      language: "sh",
      text: `curl -sS "${baseUrl}/v1/messages" -H "Authorization: Bearer $TOKEN" \\
  -d '${message}'`,
    },
  };
}

/** A sample as text to copy. */
export function sampleBlock({ text, language }: Sample): Html {
  return codeBlock(text, { language });
}
