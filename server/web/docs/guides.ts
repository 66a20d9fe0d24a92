/** The guides of /docs in reading order; their texts are loaded with them. */
import client from "../../../docs/client.md" with { type: "text" };
import digest from "../../../docs/digest.md" with { type: "text" };
import curl from "../../../docs/examples/curl.txt" with { type: "text" };
import javascript from "../../../docs/examples/relay.mjs" with { type: "text" };
import mail from "../../../docs/mail.md" with { type: "text" };
import operations from "../../../docs/operations.md" with { type: "text" };
import python from "../../../docs/examples/relay.py" with { type: "text" };
import start from "../../../docs/start.md" with { type: "text" };
import toolServer from "../../../docs/tool-server.md" with { type: "text" };
import verification from "../../../docs/verification.md" with { type: "text" };
import security from "../../../SECURITY.md" with { type: "text" };
import type { Setting } from "../../base/description/operation.ts";
import { errorsMarkdown, limitsMarkdown } from "./relay_tables.ts";

/** Where documents say that the reader's relay is. */
const EXAMPLE_RELAY = "http://127.0.0.1:8000";
const CLIENT = cutSection(client, "The command line");

/** A document that people and programs read on a relay. */
export interface Guide {
  /** Its name in addresses: /docs/{slug}, and /docs/{slug}.md. */
  slug: string;
  /** What lists of pages call it. */
  label: string;
  /** What it answers, in a sentence. */
  summary: string;
  /**
   * The document that it shows, or a section of it: its path in the repository. Its relative links start
   * there, and links of others to it lead to the guide.
   */
  file: string;
  /** The document for this relay, from its title on. */
  markdown(setting: Setting): string;
  /** Whether it is left out here; shown unless given. */
  isHidden?(setting: Setting): boolean;
}

export const GUIDES: readonly Guide[] = [
  {
    slug: "start",
    label: "Start",
    summary: "Register, send, receive: with curl, Python, JavaScript and TypeScript.",
    file: "docs/start.md",
    markdown: (setting) => hereIn(withExamples(start), setting),
  },
  {
    slug: "verify",
    label: "Verify messages",
    summary: "What a signature proves, and the rules for checking it, exactly.",
    file: "docs/verification.md",
    markdown: () => verification,
  },
  {
    slug: "mcp",
    label: "MCP clients",
    summary: "Connect a language model: the relay holds its key and signs for it.",
    file: "docs/tool-server.md",
    markdown: (setting) => hereIn(toolServer, setting),
  },
  {
    slug: "command-line",
    label: "Command line",
    summary: "The program `relay`: verbs, exit codes, files.",
    file: "docs/client.md#the-command-line",
    markdown: () => `# ${CLIENT.section}`,
  },
  {
    slug: "client",
    label: "Client library",
    summary: "An agent in a program: retries, verification, agents that may be killed.",
    file: "docs/client.md",
    markdown: () => CLIENT.rest.replace(/^# .*$/m, "# The client in a program"),
  },
  {
    slug: "mail",
    label: "E-mail inboxes",
    summary: "Real inboxes for agents: reading, sending, orgs and keys, a domain of one's own.",
    file: "docs/mail.md",
    markdown: () => mail,
    isHidden: ({ mailOn }) => !mailOn,
  },
  {
    slug: "digest",
    label: "Unread digests",
    summary: "What a relay tells by mail of messages that wait.",
    file: "docs/digest.md",
    markdown: () => digest,
  },
  {
    slug: "errors",
    label: "Errors",
    summary: "Every code: what was wrong, and what to do next.",
    file: "docs/api.md#errors",
    markdown: () => errorsMarkdown(),
  },
  {
    slug: "limits",
    label: "Limits in force",
    summary: "What this relay allows, as its operator has set it.",
    file: "docs/api.md#limits",
    markdown: limitsMarkdown,
  },
  {
    slug: "operate",
    label: "Run a relay",
    summary: "Settings, stores, backup, proxies, banning.",
    file: "docs/operations.md",
    markdown: () => operations,
  },
  {
    slug: "security",
    label: "Security",
    summary: "What is protected, what is not, and how to report.",
    file: "SECURITY.md",
    markdown: () => security,
  },
];

/** A document with the address of this relay in the place of the example's. */
function hereIn(markdown: string, { baseUrl }: Setting): string {
  return markdown.replaceAll(EXAMPLE_RELAY, () => baseUrl);
}

/** Links to the examples that stand alone in their line become the examples themselves. */
function withExamples(markdown: string): string {
  const block = (language: string, source: string) => `\`\`\`${language}\n${source}\`\`\``;
  return markdown
    .replace(/^\[[^\]]*\]\(examples\/curl\.txt\)$/m, () => block("sh", curl))
    .replace(/^\[[^\]]*\]\(examples\/relay\.mjs\)$/m, () => block("js", javascript))
    .replace(/^\[[^\]]*\]\(examples\/relay\.py\)$/m, () => block("python", python));
}

/** A section of the second level, without the marks before its heading, and the document without it. */
function cutSection(markdown: string, heading: string): { section: string; rest: string } {
  const parts = markdown.split(/^## /m);
  const at = parts.findIndex((part) => part.startsWith(`${heading}\n`));
  if (at < 0) throw new Error(`the document has no section "${heading}"`);
  const [section = ""] = parts.splice(at, 1);
  return { section: `${section.trimEnd()}\n`, rest: `${parts.join("## ").trimEnd()}\n` };
}
