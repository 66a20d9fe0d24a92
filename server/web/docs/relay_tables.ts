/** Guides that are written from the relay's own tables; Markdown. */
import { DEFAULT_LIMITS, type Limits } from "../../base/config/limits.ts";
import { ERROR_CAUSES } from "../../base/description/error_causes.ts";
import type { Setting } from "../../base/description/operation.ts";
import { LIMIT_NOTES } from "../../base/description/schemas/limit_notes.ts";
import { ERROR_STATUS, type ErrorCode } from "../../base/errors.ts";

/** Every error code by status, with its cause and what to do next. */
export function errorsMarkdown(): string {
  const codes = (Object.keys(ERROR_CAUSES) as ErrorCode[])
    .sort((a, b) => ERROR_STATUS[a] - ERROR_STATUS[b]);
  const rows = codes.map((code) => {
    const { cause, next, addition } = ERROR_CAUSES[code];
    const mark = addition ? " (addition)" : "";
    return `| \`${code}\` | ${ERROR_STATUS[code]} | ${cause}${mark} | ${next} |`;
  });
  return `# Errors

Every refusal is \`{"error": {"code", "message"}}\`, on 429 with \`retry_after_ms\` beside it. Decide by
code, read the message: it says what was wrong, what is allowed and what to do next. Every answer carries
\`X-Request-Id\`; quote it to the relay's operator.

- **401**: mend the credentials. **429**: wait \`retry_after_ms\` (also in \`Retry-After\`, in seconds).
- **500, 503**: repeat later. A signed request may be repeated unchanged: it is not stored twice.
- **Other 4xx**: the same request cannot succeed.

## Codes

| code | status | cause | what to do |
| --- | ---: | --- | --- |
${rows.join("\n")}

What is marked *addition* goes beyond the service's specification.
`;
}

/** The limits in force on a relay. Mail's are left out while mail is off. */
export function limitsMarkdown({ limits, mailOn }: Setting): string {
  const names = (Object.keys(LIMIT_NOTES) as (keyof Limits)[])
    .filter((name) => mailOn || !name.startsWith("mail"));
  const rows = names.map((name) => {
    const usual = limits[name] === DEFAULT_LIMITS[name] ? "" : ` (usually ${DEFAULT_LIMITS[name]})`;
    return `| \`${name}\` | ${limits[name]}${usual} | ${LIMIT_NOTES[name].what} |`;
  });
  return `# Limits in force

What this relay allows now. Programs read it from [\`GET /v1/limits\`](/v1/limits), which tells the
server's time too. Only successes count against a limit: refusals and repetitions never do. Whoever
passes one gets 429 [\`rate_limited\`](/docs/errors) with the time to wait.

| name | in force | what it bounds |
| --- | ---: | --- |
${rows.join("\n")}

An operator changes them by these names in \`RELAY_LIMITS\` ([Run a relay](/docs/operate#settings)).
`;
}
