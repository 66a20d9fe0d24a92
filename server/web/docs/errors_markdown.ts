import { ERROR_CAUSES } from "../../base/description/error_causes.ts";
import { ERROR_STATUS, type ErrorCode } from "../../base/errors.ts";

/** Every error code by status, with its cause and what to do next; Markdown. */
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
