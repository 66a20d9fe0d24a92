/** What the log may say about an unexpected failure. */
import { RelayError } from "./errors.ts";

const MAX_MESSAGE_CHARACTERS = 200;
const MAX_STACK_FRAMES = 12;

/**
 * Name, message and stack frames of anything thrown, without what a caller sent: parsers quote
 * their input in messages, so quoted text, addresses and long runs of token characters are cut out.
 * For a refusal its cause, if any: its own words are for the client.
 */
export function describeFailure(failure: unknown): { name: string; message: string; at: string } {
  if (failure instanceof RelayError && failure.cause instanceof Error) {
    return describeFailure(failure.cause);
  }
  if (!(failure instanceof Error)) {
    return { name: typeof failure, message: "something that is no Error was thrown", at: "" };
  }
  const frames = (failure.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  return {
    name: failure.name,
    message: failure instanceof SyntaxError ? "(kept out: it may quote input)" : redact(
      failure.message,
    ),
    at: frames.slice(0, MAX_STACK_FRAMES).map((line) => line.trim().slice(3)).join(" < "),
  };
}

function redact(message: string): string {
  return message
    .slice(0, 4 * MAX_MESSAGE_CHARACTERS)
    .replaceAll(/"[^"]*"?|'[^']*'|`[^`]*`?/g, "(...)")
    .replaceAll(/\S+@\S+/g, "(...)")
    .replaceAll(/[A-Za-z0-9+/_=-]{24,}/g, "(...)")
    .slice(0, MAX_MESSAGE_CHARACTERS);
}
