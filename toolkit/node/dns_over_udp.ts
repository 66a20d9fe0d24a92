import { Buffer } from "node:buffer";
import { createSocket, type RemoteInfo } from "node:dgram";
import type { DnsServer } from "../mail/ask_dns.ts";

/** "silent": nothing came; "unsure": what came may be forged, or is not all. Either way TCP is to be asked. */
export type UdpAnswer = Uint8Array<ArrayBuffer> | "silent" | "unsure";

/** What arrives whole on nearly every way (RFC 9715, section 3). */
const MAX_ANSWER_BYTES = 1_232;
const HEADER_BYTES = 12;
/** A record that says so: a root name, type OPT, that size, no flags, no options (RFC 6891, section 6.1). */
const EDNS = [0, 0, 41, MAX_ANSWER_BYTES >> 8, MAX_ANSWER_BYTES & 0xff, 0, 0, 0, 0, 0, 0];
/** Datagrams of others that are looked at. */
const MAX_STRANGE = 100;

/**
 * Whether a port for the answers may be opened. On Deno that takes a right, and without it opening one ends
 * the process.
 */
export function mayAskByUdp(): boolean {
  const { Deno: deno } = globalThis as {
    Deno?: { permissions: { querySync(of: { name: "net"; host: string }): { state: string } } };
  };
  return deno === undefined ||
    deno.permissions.querySync({ name: "net", host: "[::]:0" }).state === "granted";
}

/**
 * Sends one question over UDP, and once more after half of the time, from a port that the system chooses
 * at random. Taken is the answer of the asked server alone, with the question's id and its name in letters
 * whose case was chosen at random; who forges one has one try, since anything else from there leads to TCP.
 *
 * @param question a DNS message of one question and no further record
 * @param signal ends it early, as silent
 * @returns the answer, its question as given
 */
export function askByUdp(
  { host, port }: Pick<DnsServer, "host" | "port">,
  question: Uint8Array,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<UdpAnswer> {
  // Bound to all addresses of both families: the one right covers every server.
  const target = host.includes(":") ? host : `::ffff:${host}`;
  const asked = withRandomCase(question);
  const datagram = Buffer.concat([asked, Buffer.from(EDNS)]);
  datagram[HEADER_BYTES - 1] = 1;
  return new Promise((resolve) => {
    const socket = createSocket("udp6");
    const send = () =>
      socket.send(datagram, port, target, (error) => {
        if (error != null) end("silent");
      });
    const again = setTimeout(send, timeoutMs / 2);
    const late = setTimeout(() => end("silent"), timeoutMs);
    const stop = () => end("silent");
    let isOpen = true;
    function end(answer: UdpAnswer) {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(again);
      clearTimeout(late);
      signal?.removeEventListener("abort", stop);
      socket.close();
      resolve(answer);
    }
    let strange = 0;
    socket.on("error", () => end("silent"));
    socket.on("message", (message: Uint8Array, from: RemoteInfo) => {
      if (from.port === port && isSameAddress(from.address, target)) {
        end(isAnswerTo(asked, message) ? withQuestion(message, question) : "unsure");
      } else if (++strange >= MAX_STRANGE) end("unsure");
    });
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    else send();
  });
}

/** Servers give a name back as it was asked for, so that each letter is a bit that a forger has to guess. */
function withRandomCase(question: Uint8Array): Uint8Array {
  const random = crypto.getRandomValues(new Uint8Array(question.length));
  return question.map((byte, index) => {
    const isLetter = (byte & 0xdf) >= 0x41 && (byte & 0xdf) <= 0x5a;
    // Behind the name stand its type and class, which are below the letters; no length of a label is above 63.
    return index >= HEADER_BYTES && isLetter ? byte ^ random[index]! & 0x20 : byte;
  });
}

/** Whether it is a whole answer that a server gives which understood all of the question. */
function isAnswerTo(asked: Uint8Array, message: Uint8Array): boolean {
  if (message.length < asked.length || message.length > MAX_ANSWER_BYTES) return false;
  const [high, low] = [message[2]!, message[3]!];
  const isWhole = (high & 0b1111_1010) === 0b1000_0000;
  const code = low & 0xf;
  // Of a malformed question, or one of a kind that it does not know: those that know no EDNS say so.
  if (!isWhole || code === 1 || code === 4 || message[4] !== 0 || message[5] !== 1) return false;
  return asked.every((byte, index) => index > 1 && index < HEADER_BYTES || byte === message[index]);
}

/** Names of the answer may point into its question. */
function withQuestion(message: Uint8Array, question: Uint8Array): Uint8Array<ArrayBuffer> {
  const answer = Uint8Array.from(message);
  answer.set(question.subarray(HEADER_BYTES), HEADER_BYTES);
  return answer;
}

function isSameAddress(came: string, target: string): boolean {
  const [one, other] = [came, target].map((text) => `http://[${text.replace(/%.*$/, "")}]`);
  return URL.canParse(one!) && new URL(one!).hostname === new URL(other!).hostname;
}
