/** Command lines, and the arguments of MAIL and RCPT (RFC 5321, section 4.1.2). Pure. */

export interface PathCommand {
  /** Printable ASCII, without a source route; "" for the null sender. */
  address: string;
  /** By their names in capitals; null where one has no value. */
  parameters: ReadonlyMap<string, string | null>;
}

/** What the specification of SMTP lets an address have, with a little room. */
const MAX_ADDRESS = 320;
const FORM = /^(FROM|TO): *<(?:@[^<>:" ]+:)?((?:"(?:[^"\\]|\\.)*"|[^<>" ])*)>((?: +[^ ]+)*) *$/i;

/** What a mailbox's name may be without quotes (RFC 5321, section 4.1.2, Dot-string). */
const UNQUOTED = /^"((?:[\w!#$%&'*+/=?^`{|}~-]+\.)*[\w!#$%&'*+/=?^`{|}~-]+)"(@.*)$/;

/** A line's verb in capitals, "" where there is none; and what stands behind it, without spaces around. */
export function readCommand(text: string): { verb: string; rest: string } {
  const [verb = ""] = /^[A-Za-z]+(?= |$)/.exec(text) ?? [];
  // An expression that skips spaces before an end tries each of them.
  let end = verb === "" ? 0 : text.length;
  while (text[end - 1] === " ") end--;
  const rest = text.slice(verb.length, end).replace(/^ +/, "");
  return { verb: verb.toUpperCase(), rest };
}

/**
 * @param text what stands behind the verb, each byte a character
 * @returns "not_ascii" where the address is not, null where the form is another
 */
export function readPath(text: string, keyword: "FROM" | "TO"): PathCommand | "not_ascii" | null {
  const match = FORM.exec(text);
  if (match === null || match[1]!.toUpperCase() !== keyword) return null;
  const address = unquoted(match[2]!);
  if (address.length > MAX_ADDRESS || /[^\x20-\x7e\x80-\xff]/.test(address)) return null;
  if (/[^\x20-\x7e]/.test(address)) return "not_ascii";
  const parameters = new Map<string, string | null>();
  for (const parameter of match[3]!.split(" ").filter((one) => one !== "")) {
    const [name, value = null] = parameter.split(/=(.*)/s, 2) as [string, string?];
    if (parameters.has(name.toUpperCase())) return null;
    parameters.set(name.toUpperCase(), value);
  }
  return { address, parameters };
}

/** A local part that needs no quotes, without them: both name one mailbox (RFC 5321, section 4.1.2). */
function unquoted(address: string): string {
  const match = UNQUOTED.exec(address);
  return match === null ? address : `${match[1]}${match[2]}`;
}
