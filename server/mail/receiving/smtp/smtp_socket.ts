/** A client's connection: bytes one piece at a time, TLS from some point on, and an end that is heard. */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";

const ENDS = ["end", "close", "error"];

export class SmtpSocket {
  #socket: Socket;
  readonly #pieces: Uint8Array[] = [];
  #isAtEnd = false;
  #wake = () => {};
  #isShaking = false;
  readonly #flushed = Promise.withResolvers<void>();
  isSecure = false;

  /** @param socket half open: the client may have said its last word before ours */
  constructor(socket: Socket) {
    this.#socket = socket;
    this.#listenTo(socket);
  }

  #listenTo(socket: Socket): void {
    socket.on("data", this.#onData);
    for (const event of ENDS) socket.on(event, this.#onEnd);
  }

  #leave(socket: Socket): void {
    socket.off("data", this.#onData);
    for (const event of ENDS) socket.off(event, this.#onEnd);
  }

  readonly #onData = (piece: Uint8Array) => {
    this.#socket.pause();
    this.#pieces.push(piece);
    this.#wake();
  };

  readonly #onEnd = () => {
    this.#isAtEnd = true;
    this.#wake();
  };

  /** Whether nothing has come that is not read. */
  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** The next bytes; null where no more will come. */
  async read(): Promise<Uint8Array | null> {
    while (this.#pieces.length === 0 && !this.#isAtEnd) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
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
    const plain = this.#socket;
    this.#leave(plain);
    plain.write(ready);
    const secure = new TLSSocket(plain, { isServer: true, secureContext });
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#isShaking = true;
    secure.once("secure", () => resolve(true));
    for (const event of ["error", "close", "_tlsError"]) secure.on(event, () => resolve(false));
    this.#socket = secure;
    this.isSecure = await promise;
    this.#isShaking = false;
    if (this.isSecure) this.#listenTo(secure);
    else this.destroy();
    return this.isSecure;
  }

  /** Says a last word; what still comes is thrown away until the client hangs up, or destroy(). */
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
      if (isAtEnd) socket.destroy();
    };
    socket.on("end", () => socket.destroy());
    socket.end(Buffer.from(text, "latin1"), flushed);
    socket.resume();
  }

  destroy(): void {
    this.#isAtEnd = true;
    this.#wake();
    this.#socket.destroy();
    this.#flushed.resolve();
  }

  /** Resolves when the last word has left. */
  flushed(): Promise<void> {
    return this.#flushed.promise;
  }

  /** Resolves when the connection is no more. */
  async closed(): Promise<void> {
    const socket = this.#socket;
    if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  }
}
