import { LIMIT_NOTES } from "../../base/description/schemas/limit_notes.ts";
import type { Setting } from "../../base/description/operation.ts";
import { DEFAULT_LIMITS, type Limits } from "../../base/config/limits.ts";

/** The limits in force on a relay; Markdown. Those of mail are left out while mail is off. */
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
