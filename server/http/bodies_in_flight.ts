/** How much of request bodies the process holds at one time: beyond it callers hear 503, memory stays. */
import { RelayError } from "../errors.ts";

export interface BodyBounds {
  /** Bytes of all bodies that are being read or answered. */
  totalBytes: number;
  /** Bodies up to this size have room of their own, so that large ones cannot keep them out. */
  smallBytes: number;
  smallTotalBytes: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

const BODY_BOUNDS: BodyBounds = {
  totalBytes: 256 * MIB,
  smallBytes: 16 * KIB,
  smallTotalBytes: 64 * MIB,
};

/** What a body without Content-Length counts as: the most that the messaging API reads. */
const UNKNOWN_BYTES = 256 * KIB;
/** No route reads this much: the body is refused by its size, and nothing of it kept. */
const UNREADABLE_BYTES = 64 * MIB;

export class BodiesInFlight {
  #bytes = 0;
  #smallBytes = 0;

  constructor(private readonly bounds: BodyBounds = BODY_BOUNDS) {}

  /**
   * Counts the body of a request until release() is called with what this returns.
   * @returns the bytes held for it, by its Content-Length
   * @throws RelayError `unavailable` when there is no room for it
   */
  admit(request: Request): number {
    const { totalBytes, smallBytes, smallTotalBytes } = this.bounds;
    const sizeBytes = declaredBytes(request);
    if (sizeBytes <= smallBytes) {
      if (this.#smallBytes + sizeBytes > smallTotalBytes) throw tooMany();
      this.#smallBytes += sizeBytes;
    } else {
      if (this.#bytes > 0 && this.#bytes + sizeBytes > totalBytes) throw tooMany();
      this.#bytes += sizeBytes;
    }
    return sizeBytes;
  }

  /** The request has its answer. */
  release(sizeBytes: number): void {
    if (sizeBytes <= this.bounds.smallBytes) this.#smallBytes -= sizeBytes;
    else this.#bytes -= sizeBytes;
  }
}

function declaredBytes(request: Request): number {
  const length = request.headers.get("content-length");
  if (length === null) return request.body === null ? 0 : UNKNOWN_BYTES;
  // The HTTP parser lets only digits through; tests may hand over anything.
  const sizeBytes = /^[0-9]{1,15}$/.test(length) ? Number(length) : UNKNOWN_BYTES;
  return sizeBytes > UNREADABLE_BYTES ? 0 : sizeBytes;
}

function tooMany(): RelayError {
  return new RelayError(
    "unavailable",
    "the relay has more request bodies in hand than it has room for; nothing was stored; send the same request again after Retry-After",
    { retryAfterMs: 1000, closeConnection: true },
  );
}
