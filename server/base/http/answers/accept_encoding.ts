/** Whether a client takes an answer compressed (RFC 9110, section 12.5.3). */

/** A weight: 0 to 1 with at most three digits behind the point (section 12.4.2). */
const WEIGHT = /^(0(\.[0-9]{0,3})?|1(\.0{0,3})?)$/;

/**
 * True where gzip is acceptable, and at least as welcome as no compression where that is named too.
 * Takes time in proportion to the header's length; what is malformed names nothing.
 * @param header Accept-Encoding, all lines joined by commas; null when absent
 */
export function acceptsGzip(header: string | null): boolean {
  const weights = new Map<string, number>();
  for (const item of (header ?? "").split(",")) {
    const [coding = "", ...parameters] = item.split(";", 3);
    const weight = weightOf(parameters);
    if (weight !== undefined) weights.set(coding.trim().toLowerCase(), weight);
  }
  const gzip = weights.get("gzip") ?? weights.get("x-gzip") ?? weights.get("*") ?? 0;
  return gzip > 0 && gzip >= (weights.get("identity") ?? 0);
}

function weightOf(parameters: readonly string[]): number | undefined {
  if (parameters.length === 0) return 1;
  const [name, value = ""] = parameters[0]!.trim().split("=", 2);
  if (parameters.length > 1 || name!.toLowerCase() !== "q" || !WEIGHT.test(value)) return undefined;
  return Number(value);
}
