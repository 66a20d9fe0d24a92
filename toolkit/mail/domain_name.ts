const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

/**
 * A domain as it is compared: in small letters, without the dot at its end.
 *
 * @param text names of other alphabets as A-labels (xn--)
 * @param minLabels how many labels it has at least
 * @returns null for what is no name of hosts, and for an IPv4 address
 */
export function parseDomainName(text: string, minLabels = 2): string | null {
  const name = text.toLowerCase().replace(/\.$/, "");
  const labels = name.split(".");
  const isName = name.length <= 253 && NAME.test(name) && labels.length >= minLabels;
  return isName && !/^[0-9]+$/.test(labels.at(-1)!) ? name : null;
}
