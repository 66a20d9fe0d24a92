/** What the relay may not reach where it may reach every public host. */

interface PrivateBlock {
  /** As `--deny-net` takes it: of IPv6 Deno 2.9.6 takes single addresses alone. */
  range: string;
  /** Names have such addresses somewhere: in a private network, a mesh, the table of a proxy or a sidecar. */
  isNamed?: boolean;
}

const BLOCKS: readonly PrivateBlock[] = [
  { range: "0.0.0.0/8" },
  { range: "10.0.0.0/8", isNamed: true },
  { range: "100.64.0.0/10", isNamed: true },
  { range: "127.0.0.0/8", isNamed: true },
  { range: "168.63.129.16/32" }, // metadata of Azure
  { range: "169.254.0.0/16" }, // metadata of the other clouds
  { range: "172.16.0.0/12", isNamed: true },
  { range: "192.0.0.0/24" },
  { range: "192.168.0.0/16", isNamed: true },
  { range: "198.18.0.0/15", isNamed: true },
  { range: "224.0.0.0/4" },
  { range: "240.0.0.0/4", isNamed: true },
  { range: "[::1]", isNamed: true },
];
const IPV4 = /^\d+(?:\.\d+){3}$/;
/** Mapped and compatible addresses, as URL spells them: the runtime takes them for the IPv4 address inside. */
const HOLDS_IPV4 = /^\[::(?:ffff:)?[0-9a-f]+:[0-9a-f]+\]$/;

/**
 * Values for `--deny-net`, which wins over what is allowed: all blocks but those in which a host that the
 * relay needs lies, or may lie. Names are resolved when they are connected to, and nobody knows to what:
 * with one among them, every block stays open that names are in.
 *
 * @param hosts as `--allow-net` takes them, with or without a port
 */
export function deniedRanges(hosts: readonly string[]): string[] {
  const needed = hosts.map((host) => new URL(`http://${host}`).hostname);
  return BLOCKS.filter((block) => !needed.some((host) => mayLieIn(host, block)))
    .map(({ range }) => range);
}

function mayLieIn(host: string, { range, isNamed = false }: PrivateBlock): boolean {
  if (host.startsWith("[")) return host === range || HOLDS_IPV4.test(host);
  if (IPV4.test(host)) return contains(range, host);
  if (host === "localhost") return contains(range, "127.0.0.1") || range === "[::1]";
  return isNamed;
}

function contains(range: string, address: string): boolean {
  if (range.startsWith("[")) return false;
  const [first, bits] = range.split("/") as [string, string];
  const addresses = 2 ** (32 - Number(bits));
  return Math.floor(numberOf(address) / addresses) === Math.floor(numberOf(first) / addresses);
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}
