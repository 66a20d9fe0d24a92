/** A DNS server on this machine whose answers a test writes, over UDP and TCP. */
import { createSocket } from "node:dgram";

/** Records of one type at a name, or what happens in their place: "cut" sends less than an answer. */
export type DnsFault = "nxdomain" | "servfail" | "refused" | "silence" | "cut" | "nonsense";
export type ScriptedRecords =
  | DnsFault
  | { TXT: readonly string[] }
  | { A: readonly string[] }
  | { AAAA: readonly string[] }
  | { MX: readonly string[] }
  | { PTR: readonly string[] }
  | { CNAME: string };

export interface ScriptedDns extends AsyncDisposable {
  server: { host: string; port: number };
  /** By "TYPE name"; a question without a line is NXDOMAIN. */
  zone: Map<string, ScriptedRecords>;
  /** Questions so far, as "TYPE name": each once, however often and by whatever way it came. */
  asked: string[];
  /** The ways by which they came, as "udp" and "tcp", those that were asked again too. */
  ways: string[];
}

interface Scripted extends ScriptedDns {
  /** Questions by their ids. */
  seen: Set<string>;
}

const TYPE_NAMES: Record<number, string> = { 1: "A", 5: "CNAME", 12: "PTR", 15: "MX", 16: "TXT" };
const AAAA = 28;
const RCODES: Record<string, number> = { nxdomain: 3, servfail: 2, refused: 5 };

/** Bytes of an answer that a client takes which names no size, and which names one. */
const UDP_BYTES = 512;
const EDNS_BYTES = 1_232;
const CUT = 0x02;

/**
 * @param zone by "TYPE name", such as "TXT _dmarc.example.org"
 * @param options udp: false for a server that gives no answer over UDP, null for one that leaves it to others
 */
export function startScriptedDns(
  zone: Record<string, ScriptedRecords> = {},
  { udp: answersUdp = true }: { udp?: boolean | null } = {},
): ScriptedDns {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const udp = createSocket("udp4");
  const open = new Set<Deno.Conn>();
  const answering = new Set<Promise<void>>();
  const dns: Scripted = {
    server: { host: "127.0.0.1", port: listener.addr.port },
    zone: new Map(Object.entries(zone)),
    asked: [],
    ways: [],
    seen: new Set(),
    async [Symbol.asyncDispose]() {
      listener.close();
      udp.close();
      for (const connection of open) close(connection);
      await accepting;
      await Promise.all(answering);
    },
  };
  async function answer(connection: Deno.Conn): Promise<void> {
    try {
      const question = new Uint8Array(512);
      const size = await connection.read(question);
      if (size === null) return;
      dns.ways.push("tcp");
      const reply = replyTo(dns, question.subarray(2, size));
      if (reply === "silence") {
        await connection.read(question); // until the relay has gone
        return;
      }
      if (reply === "cut") return;
      const framed = Uint8Array.from([...uint16(reply.length), ...reply]);
      for (let sent = 0; sent < framed.length;) {
        sent += await connection.write(framed.subarray(sent));
      }
    } catch {
      // The relay has gone.
    } finally {
      open.delete(connection);
      close(connection);
    }
  }
  const accepting = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      const work = answer(connection).finally(() => answering.delete(work));
      answering.add(work);
    }
  })();
  if (answersUdp !== null) udp.bind(listener.addr.port, "127.0.0.1");
  udp.on("message", (question: Uint8Array, from) => {
    dns.ways.push("udp");
    if (answersUdp !== true) return;
    const reply = replyTo(dns, question);
    if (reply === "silence") return;
    const most = question[11] === 1 ? EDNS_BYTES : UDP_BYTES;
    const whole = reply !== "cut" && reply.length <= most ? reply : cutReply(question);
    udp.send(whole, from.port, from.address);
  });
  return dns;
}

/** The question with the flags of an answer of which the rest is missing. */
function cutReply(question: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(question.subarray(0, questionEnd(question)));
  bytes.set([0x81 | CUT, 0x80], 2);
  bytes[11] = 0;
  return bytes;
}

function questionEnd(question: Uint8Array): number {
  let at = 12;
  while (question[at]! > 0) at += question[at]! + 1;
  return at + 5;
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed.
  }
}

function replyTo(dns: Scripted, question: Uint8Array): Uint8Array | "silence" | "cut" {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at++]!; length > 0; length = question[at++]!) {
    labels.push(new TextDecoder().decode(question.subarray(at, at += length)));
  }
  const number = question[at]! << 8 | question[at + 1]!;
  const type = number === AAAA ? "AAAA" : TYPE_NAMES[number]!;
  const name = labels.join(".").toLowerCase();
  const id = `${question[0]} ${question[1]} ${type} ${name}`;
  if (!dns.seen.has(id)) dns.asked.push(`${type} ${name}`);
  dns.seen.add(id);
  const scripted = dns.zone.get(`${type} ${name}`) ?? "nxdomain";
  if (scripted === "silence" || scripted === "cut") return scripted;
  if (scripted === "nonsense") return new Uint8Array([1, 2, 3]);
  const code = typeof scripted === "string" ? RCODES[scripted]! : 0;
  const records = typeof scripted === "string" ? [] : recordsOf(dns, scripted, type, name);
  const header = [question[0]!, question[1]!, 0x81, 0x80 | code, 0, 1, ...uint16(records.length)];
  return Uint8Array.from(
    [...header, 0, 0, 0, 0, ...question.subarray(12, at + 4), ...records.flat()],
  );
}

function recordsOf(
  dns: ScriptedDns,
  scripted: Exclude<ScriptedRecords, string>,
  type: string,
  name: string,
): number[][] {
  if ("CNAME" in scripted) {
    const target = dns.zone.get(`${type} ${scripted.CNAME}`);
    const alias = record(name, 5, nameBytes(scripted.CNAME));
    return typeof target === "object"
      ? [alias, ...recordsOf(dns, target, type, scripted.CNAME)]
      : [alias];
  }
  const [[kind, values]] = Object.entries(scripted) as [[string, readonly string[]]];
  return values.map((value) => {
    switch (kind) {
      case "A":
        return record(name, 1, value.split(".").map(Number));
      case "AAAA":
        return record(name, AAAA, value.split(":").flatMap((part) => uint16(parseInt(part, 16))));
      case "PTR":
        return record(name, 12, nameBytes(value));
      case "MX": {
        const [priority, exchange] = value.split(" ");
        return record(name, 15, [...uint16(Number(priority)), ...nameBytes(exchange!)]);
      }
      default:
        return record(name, 16, texts(value));
    }
  });
}

function record(owner: string, type: number, data: readonly number[]): number[] {
  return [
    ...nameBytes(owner),
    ...uint16(type),
    ...uint16(1),
    ...uint16(0),
    ...uint16(60),
    ...uint16(data.length),
    ...data,
  ];
}

/** In chunks of 255 bytes. */
function texts(value: string): number[] {
  const bytes = new TextEncoder().encode(value);
  const chunks: number[] = [];
  for (let i = 0; i < bytes.length; i += 255) {
    const chunk = bytes.subarray(i, i + 255);
    chunks.push(chunk.length);
    for (const byte of chunk) chunks.push(byte);
  }
  return chunks;
}

function nameBytes(name: string): number[] {
  if (name === "") return [0];
  return [
    ...name.split(".").flatMap((label) => [label.length, ...new TextEncoder().encode(label)]),
    0,
  ];
}

function uint16(value: number): [number, number] {
  return [value >> 8 & 0xff, value & 0xff];
}
