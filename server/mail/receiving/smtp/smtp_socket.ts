/** A client's connection: bytes one piece at a time, TLS from some point on, and an end that is heard. */
import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import { type SecureContext, TLSSocket } from "node:tls";

/** What may come after the last word until nothing more is read. */
const FAREWELL_BYTES = 256 * 1024;
/** Of TLS, in which there was nothing to read for who waited. */
const IDLE_BYTES = 1024 * 1024;
const ENDS = ["end", "close", "error"];

export class SmtpSocket {
  readonly #plain: Duplex;
  /** The same, or TLS on it. */
  #socket: Duplex;
  readonly #pieces: Uint8Array[] = [];
  #isAtEnd = false;
  #wake = () => {};
  /** Whether somebody waits for more. */
  #isWanted = false;
  /** Has the connection read on. */
  #readOn = () => {};
  #isShaking = false;
  readonly #flushed = Promise.withResolvers<void>();
  isSecure = false;
  /** What the connection has brought: with TLS more than what is read of it. */
  cameBytes = 0;
  /** How much that was when something of it was last read. */
  #readAtBytes = 0;

  constructor(connection: Deno.TcpConn) {
    this.#plain = this.#socket = streamOf(connection, {
      room: () => this.#room(),
      came: (length) => this.cameBytes += length,
    });
    this.#listenTo(this.#plain);
  }

  #listenTo(socket: Duplex): void {
    socket.on("data", this.#onData);
    for (const event of ENDS) socket.on(event, this.#onEnd);
  }

  #leave(socket: Duplex): void {
    socket.off("data", this.#onData);
    for (const event of ENDS) socket.off(event, this.#onEnd);
  }

  readonly #onData = (piece: Uint8Array) => {
    this.#readAtBytes = this.cameBytes;
    this.#isWanted = false;
    this.#socket.pause();
    this.#pieces.push(piece);
    this.#wake();
  };

  readonly #onEnd = () => {
    this.#isAtEnd = true;
    this.#wake();
  };

  /**
   * TLS deciphers all it is given, whether or not somebody reads it: it is given no more than is asked for.
   * Records may hold nothing, without an end.
   */
  async #room(): Promise<void> {
    const unread = () => this.cameBytes - this.#readAtBytes;
    while (this.isSecure && !this.#isWanted && unread() >= READ_BYTES) {
      await new Promise<void>((resolve) => this.#readOn = resolve);
    }
    if (this.isSecure && unread() > IDLE_BYTES) this.destroy();
  }

  /** Whether nothing has come that is not read. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0 && this.#socket.readableLength === 0;
  }

  /** The next bytes; null where no more will come. */
  async read(): Promise<Uint8Array | null> {
    while (this.#pieces.length === 0 && !this.#isAtEnd) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      this.#isWanted = true;
      this.#readOn();
      this.#socket.resume();
      await promise;
    }
    return this.#pieces.shift() ?? null;
  }

  /** Resolves when the client's machine has room for more, or the connection has ended. */
  async write(text: string): Promise<void> {
    if (this.#socket.destroyed || !this.#socket.writable) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = this.#socket.once("close", resolve);
    socket.write(Buffer.from(text, "latin1"), () => resolve());
    await promise;
    socket.off("close", resolve);
  }

  /**
   * Says that the handshake may begin, and waits for it.
   * @returns false where it failed
   */
  async startTls(ready: string, secureContext: SecureContext): Promise<boolean> {
    const plain = this.#plain;
    this.#leave(plain);
    plain.write(ready);
    const secure = new TLSSocket(plain, { isServer: true, secureContext });
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#isShaking = true;
    secure.once("secure", () => resolve(true));
    for (const event of ["error", "close", "_tlsError"]) secure.on(event, () => resolve(false));
    this.#socket = secure;
    this.isSecure = await promise;
    this.#readAtBytes = this.cameBytes;
    this.#isShaking = false;
    if (this.isSecure) this.#listenTo(secure);
    else this.destroy();
    return this.isSecure;
  }

  /** Says a last word; a little of what still comes is thrown away until the client hangs up, or destroy(). */
  end(text: string): void {
    const socket = this.#socket;
    const isAtEnd = this.#isAtEnd;
    this.#pieces.length = 0;
    this.#isAtEnd = true;
    this.#wake();
    if (socket.destroyed || this.#isShaking) return this.destroy();
    this.#leave(socket);
    const flushed = () => {
      this.#flushed.resolve();
      if (isAtEnd) this.destroy();
    };
    for (const event of ENDS) socket.on(event, () => this.destroy());
    let leftBytes = FAREWELL_BYTES;
    socket.on("data", ({ length }: Uint8Array) => {
      this.#readAtBytes = this.cameBytes;
      leftBytes -= length;
      this.#isWanted = leftBytes >= 0;
      if (leftBytes < 0) socket.pause();
    });
    this.#isWanted = true;
    this.#readOn();
    socket.end(Buffer.from(text, "latin1"), flushed);
    socket.resume();
  }

  destroy(): void {
    this.#isAtEnd = true;
    this.#wake();
    this.#socket.destroy();
    this.#plain.destroy();
    this.#flushed.resolve();
  }

  /** Resolves when the last word has left. */
  flushed(): Promise<void> {
    return this.#flushed.promise;
  }

  /** Resolves when the connection is no more. */
  async closed(): Promise<void> {
    const plain = this.#plain;
    if (!plain.closed) await new Promise<void>((resolve) => plain.once("close", () => resolve()));
  }
}

/** Of one read; so much is read ahead of who asks. */
const READ_BYTES = 16 * 1024;

/**
 * Half open: the client may have said its last word before ours. A piece is lent until the second read after
 * it: new memory for each has the collector walk the whole heap many times a second beside who sends much.
 */
function streamOf(
  connection: Deno.TcpConn,
  { room, came }: { room: () => Promise<void>; came: (sizeBytes: number) => void },
): Duplex {
  try {
    connection.setNoDelay(true);
  } catch {
    // The client has gone already, which the first read finds.
  }
  let [next, other] = [new Uint8Array(READ_BYTES), new Uint8Array(READ_BYTES)];
  const stream = new Duplex({
    allowHalfOpen: true,
    readableHighWaterMark: 1,
    read() {
      const into = next;
      [next, other] = [other, into];
      room().then(() => connection.read(into)).then(
        (length) => {
          came(length ?? 0);
          stream.push(length === null ? null : Buffer.from(into.buffer, 0, length));
        },
        () => stream.destroy(),
      );
    },
    write(bytes: Uint8Array, _encoding, done) {
      writeAll(connection, bytes).then(() => done(), done);
    },
    final(done) {
      connection.closeWrite().then(() => done(), done);
    },
    destroy(_error, done) {
      connection.close();
      done(null);
    },
  });
  stream.on("error", () => {}); // a client that has gone
  return stream;
}

async function writeAll(connection: Deno.TcpConn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
