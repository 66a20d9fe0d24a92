/** Methods, paths and queries that a server must survive, made from good ones. */
import type { Random } from "../support/loose_json.ts";
import { nat, pick } from "./hostile_json.ts";

const METHODS = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "TRACE",
  "CONNECT",
  "get",
  "Post",
  "QUERY",
  "PROPFIND",
  "__proto__",
  "constructor",
  "X".repeat(200),
  "!#$%&'*+-.^_`|~",
];

const PIECES = [
  "%00",
  "%0a",
  "%0d%0aX-Injected:%201",
  "%2f",
  "%2F..%2F",
  "%5c",
  "%25",
  "%",
  "%zz",
  "%c3",
  "%ff",
  "%ed%a0%80",
  "%f0%9f%98%80",
  "..",
  ".",
  "//",
  "/./",
  "/../",
  ";a=b",
  "\\",
  "|",
  "`",
  "{id}",
  ":id",
  "*",
  "@",
  "@@",
  "-",
  "--",
  "__proto__",
  "constructor",
  "0",
  "-1",
  "9007199254740993",
  "99999999999999999999",
  "a".repeat(3_000),
  "%41".repeat(500),
];

const VALUES = [
  "",
  "-1",
  "0",
  "1",
  "1.5",
  "9007199254740991",
  "9007199254740993",
  "99999999999999999999",
  "1".repeat(21),
  "x",
  "true",
  "false",
  "null",
  "%00",
  "%",
  "%zz",
  "%ff",
  "%20",
  "+",
  "a+b",
  "%26",
  "a,b,,c",
  "x".repeat(201),
  "%F0%9F%98%80".repeat(300),
];

export function hostileMethod(random: Random): string {
  return pick(METHODS, random);
}

/** The path with something put into it, taken from it or repeated. */
export function hostilePath(path: string, random: Random): string {
  const at = 1 + nat(path.length, random);
  switch (nat(7, random)) {
    case 0:
      return path.slice(0, at) + pick(PIECES, random) + path.slice(at);
    case 1:
      return `${path}/${pick(PIECES, random)}`;
    case 2:
      return `${path.slice(0, path.lastIndexOf("/") + 1)}${pick(PIECES, random)}`;
    case 3:
      return `${path.slice(0, path.indexOf("/", 1) + 1)}${pick(PIECES, random)}${
        path.slice(path.indexOf("/", 1))
      }`;
    case 4:
      return path.slice(0, at);
    case 5: {
      const code = path.charCodeAt(at - 1).toString(16).padStart(2, "0");
      return `${path.slice(0, at - 1)}%${code}${path.slice(at)}`;
    }
    default:
      return random() < 0.5 ? path.toUpperCase() : `${path}/`;
  }
}

/** A query of known and unknown parameters, good and bad, once and often; without "?". */
export function hostileQuery(names: readonly string[], random: Random): string {
  const known = [...names, "wait", "token", "x", "__proto__", "toString", "%6cimit", ""];
  const count = random() < 0.02 ? 200 : nat(5, random);
  return Array.from({ length: count }, () => {
    const name = pick(known, random);
    // A wait would only wait.
    const value = name === "wait" ? pick(["0", "x", "-5", ""], random) : pick(VALUES, random);
    return random() < 0.1 ? name : `${name}=${value}`;
  }).join(pick(["&", "&", "&", "&&", ";"], random));
}
