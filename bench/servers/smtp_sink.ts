/** A next hop that takes every mail and forgets it: "taken" tells how many since it was asked last. */
import { answerLines } from "./child.ts";

const encoder = new TextEncoder();
const GREETING = encoder.encode("220 sink ESMTP\r\n");
const OK = encoder.encode("250 ok\r\n");
const GO_ON = encoder.encode("354 go on\r\n");
const BYE = encoder.encode("221 bye\r\n");
const DOT_LINE = encoder.encode("\r\n.\r\n");

let taken = 0;

/** One session; commands come one at a time, as the relay and nodemailer send them. */
async function serve(socket: Deno.Conn): Promise<void> {
  const chunk = new Uint8Array(256 * 1024);
  const decoder = new TextDecoder("latin1");
  let inContent = false;
  /** The last five bytes of the content so far. */
  let tail = new Uint8Array(0);
  try {
    await socket.write(GREETING);
    for (;;) {
      const length = await socket.read(chunk);
      if (length === null) return;
      const bytes = chunk.subarray(0, length);
      if (inContent) {
        const end = new Uint8Array([...tail, ...bytes.subarray(-5)]).slice(-5);
        tail = end;
        if (!DOT_LINE.every((byte, i) => byte === end[i])) continue;
        inContent = false;
        taken++;
        await socket.write(OK);
        continue;
      }
      const verb = decoder.decode(bytes.subarray(0, 4)).toUpperCase();
      if (verb === "DATA") {
        inContent = true;
        tail = new Uint8Array(0);
        await socket.write(GO_ON);
      } else if (verb === "QUIT") {
        await socket.write(BYE);
        return;
      } else await socket.write(OK);
    }
  } catch {
    // The client has left.
  } finally {
    socket.close();
  }
}

const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ port: listener.addr.port }));
(async () => {
  for await (const socket of listener) {
    socket.setNoDelay(true);
    serve(socket);
  }
})();
await answerLines((line) => {
  const told = taken;
  if (line === "reset") taken = 0;
  return told;
});
Deno.exit(0); // closes what is still connected
