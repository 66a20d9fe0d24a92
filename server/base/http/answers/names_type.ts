/**
 * Whether the request's Accept names a media type, by one word for word: `*` is what programs send.
 * Quality 0 names what is not wanted (RFC 9110, section 12.4.2).
 * @param type in small letters, such as "application/json"
 */
export function namesType(request: Request, type: string): boolean {
  const ranges = (request.headers.get("accept") ?? "").split(",");
  return ranges.some((range) => {
    const [named, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return named === type && !parameters.some((one) => /^q\s*=\s*0(\.0*)?$/.test(one));
  });
}
