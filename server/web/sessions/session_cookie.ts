/** The cookie that carries a session of some pages, out of the reach of scripts. Pure. */

/** Values of one name that a browser sends; a header with more is none of ours. */
const MAX_VALUES = 4;

export interface SessionCookie {
  name: string;
  /** "/" for a name that begins with __Host-. */
  path: string;
  sameSite: "Strict" | "Lax";
  maxAgeMs: number;
}

/**
 * Set-Cookie for a session; without a value it has a browser forget the session.
 * @param isSecure false where the relay is used over http on this machine
 */
export function writeCookie(
  { name, path, sameSite, maxAgeMs }: SessionCookie,
  value: string | null,
  isSecure: boolean,
): string {
  const maxAgeSeconds = value === null ? 0 : maxAgeMs / 1000;
  return `${name}=${
    value ?? ""
  }; Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${sameSite}` +
    (isSecure ? "; Secure" : "");
}

/** What a request sends under a cookie's name: several where another path or host set one too. */
export function sentValues(headers: Headers, name: string): string[] {
  return (headers.get("cookie") ?? "").split(/;\s*/)
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, MAX_VALUES)
    .map((pair) => pair.slice(name.length + 1));
}
