import type { MessageReport } from "../message_report.ts";
import { overall } from "../overall.ts";
import { ExitCode } from "./failure.ts";
import type { Host } from "./host.ts";

/** The exit codes that a verdict can lead to. */
type VerdictCode = Exclude<ExitCode, typeof ExitCode.refused | typeof ExitCode.unreachable>;

/** What a report amounts to for one message: 0, 1 (something is false) or 3 (body not bound). */
export function reportExitCode(report: MessageReport): VerdictCode {
  if (overall(report) === "false") return ExitCode.false;
  return report.body === "bound" ? ExitCode.passed : ExitCode.unbound;
}

/** What the verifier was given; tells which advice helps. */
export interface GivenEvidence {
  readonly hasRecipient: boolean;
  readonly hasRequest: boolean;
  /** Whether the request stands beside the message, and is not an option. */
  readonly isRequestCarried?: boolean;
  /** Whether the relay was asked for the request. */
  readonly hasAskedRelay?: boolean;
  /** Whether the sender's address comes from a pin, and not from an option. */
  readonly isPinned?: boolean;
}

/**
 * A report in one line of words, each verdict by itself; it begins with what it amounts to.
 *
 * @param message its id, and the key that is said to have signed it, maybe with its pinned name
 */
export function describeReport(
  { id, signer }: { readonly id: number; readonly signer: string },
  report: MessageReport,
  given: GivenEvidence,
): string {
  const outcome = {
    [ExitCode.passed]: "passed",
    [ExitCode.false]: "FALSE",
    [ExitCode.malformed]: "malformed",
    [ExitCode.unbound]: "not bound",
  }[reportExitCode(report)];
  const verdicts = [
    CANONICAL_STRING[report.canonicalString],
    SIGNATURE[report.signature],
    report.sender === "mismatch" && given.isPinned ? PIN_MISMATCH : SENDER[report.sender],
    `from ${signer}`,
    CONTENT_HASH[report.contentHash],
    bodyWords(report, given),
    ageWords(report.age),
  ];
  return `${outcome}: message ${id}: ${verdicts.filter((words) => words !== "").join("; ")}`;
}

const CANONICAL_STRING = {
  ok: "",
  malformed: "canonical_string MALFORMED (not that of a signed POST /v1/messages)",
  absent: "canonical_string null",
};

const SIGNATURE = {
  valid: "signature valid",
  invalid: "signature INVALID",
  "not-checkable": "signature not checkable (nothing says what was signed)",
};

const SENDER = {
  pinned: "signer pinned",
  mismatch: "signer MISMATCH (from is not the address given with --from)",
  "not-pinned": "signer not pinned",
};

const PIN_MISMATCH = "signer MISMATCH (from is not the key that its name is pinned to)";

const CONTENT_HASH = {
  match: "content hash matches",
  mismatch: "content hash MISMATCH",
};

function bodyWords({ body, addressee, canonicalString }: MessageReport, given: GivenEvidence) {
  if (body === "bound") {
    return addressee === "unknown" ? "body bound" : `body bound, addressed by ${addressee}`;
  }
  if (canonicalString !== "ok") return "body NOT BOUND: no signed hash to bind it to";
  const tried = given.hasAskedRelay
    ? "neither a request rebuilt for you nor the one that the relay has gives this message"
    : given.isRequestCarried
    ? "the request_base64 beside it is not this message's"
    : given.hasRequest
    ? given.hasRecipient
      ? "the request given with --request is not this message's"
      : "the request given with --request is not this message's, pass --to KEY to try without it"
    : given.hasRecipient
    ? "no request rebuilt for this recipient has the signed hash, pass --request FILE with the " +
      "answer of GET /v1/messages/ID/signed-request, or the recipient's --to-handle or --to-name"
    : "no recipient given, pass --to KEY (and --to-handle, --to-name), or --request FILE";
  return `body NOT BOUND: ${tried}`;
}

function ageWords({ signedAt, skewSeconds, within }: MessageReport["age"]): string {
  if (skewSeconds === null) return "";
  const when = `signed at ${signedAt ?? "an impossible time"} by the signer's clock`;
  const order = skewSeconds < 0 ? "after" : "before";
  const gap = `${Math.abs(skewSeconds)} s ${order} created_at`;
  return `${when}, ${gap}${within === false ? " (MORE THAN --max-skew)" : ""}`;
}

const COLORS = { passed: 32, FALSE: 31, malformed: 31, "not bound": 33 };

/** Colors what a line begins with. */
export type Paint = (line: string) => string;

/**
 * Colors what a line of verdicts begins with: on a terminal only, and not where NO_COLOR is set or
 * TERM is dumb.
 */
export function verdictPainter(host: Pick<Host, "env" | "isTerminal">): Paint {
  const isPlain = !host.isTerminal("stdout") || !!host.env("NO_COLOR") ||
    host.env("TERM") === "dumb";
  if (isPlain) return (line) => line;
  return (line) =>
    line.replace(
      /^(?:passed|FALSE|malformed|not bound)(?=:)/,
      (word) => `\u001b[${COLORS[word as keyof typeof COLORS]}m${word}\u001b[0m`,
    );
}
