/**
 * Answers that are too large to be given to the runtime whole. A client that does not take its
 * answer makes the relay keep only little of it.
 */
import type { AnswerBudget, AnswerReservation } from "./answer_budget.ts";

/** Answers over this size are given as the peer takes them (docs/api.md, "Limits"). */
export const LARGE_ANSWER_BYTES = 64 * 1024;

/** An answer whose bytes are given piece by piece; its own body is empty until app.ts gives it. */
export class LargeAnswer extends Response {
  constructor(
    readonly content: Uint8Array,
    init?: ResponseInit,
    /** True where all such answers share these bytes, as with a file: they are not counted. */
    readonly isShared = false,
  ) {
    super(null, init);
  }
}

const encoder = new TextEncoder();

/** Whether a text is surely not large as UTF-8, without encoding it. */
export function isSmallText(content: string): boolean {
  // A UTF-16 unit is at most three bytes of UTF-8.
  return content.length * 3 <= LARGE_ANSWER_BYTES;
}

/**
 * An answer of finished bytes or text, made to be given piece by piece where it is large.
 * @param init status and headers
 */
export function answerWhole(
  content: string | Uint8Array<ArrayBuffer>,
  init?: ResponseInit,
  isShared = false,
): Response {
  const isSmall = typeof content === "string"
    ? isSmallText(content)
    : content.length <= LARGE_ANSWER_BYTES;
  if (isSmall) return new Response(content, init);
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  if (bytes.length <= LARGE_ANSWER_BYTES) return new Response(bytes, init);
  return new LargeAnswer(bytes, init, isShared);
}

/**
 * The answer as it goes to the runtime.
 * @param reservation what the handler reserved for this answer; ended where it is not needed
 * @throws RelayError `unavailable` where nothing was reserved and too little is free
 */
export function giveAnswer(
  answer: Response,
  reservation: AnswerReservation | undefined,
  answers: AnswerBudget,
  isHead: boolean,
): Response {
  if (isHead || !(answer instanceof LargeAnswer)) {
    reservation?.end();
    if (answer instanceof LargeAnswer) setLength(answer);
    return answer;
  }
  const { content: bytes, isShared, status, headers } = answer;
  setLength(answer);
  const taken = reservation ?? answers.reserve(isShared ? 0 : bytes.length, "anybody");
  return new Response(taken.stream(bytes), { status, headers });
}

function setLength({ headers, content }: LargeAnswer): void {
  headers.set("Content-Length", String(content.length));
}
