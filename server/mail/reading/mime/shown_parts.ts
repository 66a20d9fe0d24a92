/**
 * Which parts of a message mail programs show (RFC 2046, RFC 2387, RFC 8621), which of them its plain
 * text is made of, and which are attachments (docs/mail.md). Pure; linear in the parts.
 */
import { givenName } from "./attachments.ts";
import type { MailPart } from "./walk_parts.ts";

export interface ShownParts {
  /** What mail programs show, in order: of alternatives their HTML. */
  shown: readonly MailPart[];
  /** The same, but of alternatives their plain text where they have one. */
  plain: readonly MailPart[];
  alternatives: readonly Alternative[];
  /** In the order of the message. */
  attachments: readonly MailPart[];
}

/** What one multipart/alternative says more than once. */
export interface Alternative {
  shown: readonly MailPart[];
  /** What the plain text takes of it. */
  plain: readonly MailPart[];
  /** Each of them is not shown. */
  others: readonly (readonly MailPart[])[];
}

interface Node {
  part: MailPart;
  children: Node[];
}

interface Bodies {
  shown: MailPart[];
  plain: MailPart[];
}

/** @param parts as walkParts() gives them: the message itself, then its parts in their order */
export function readShownParts(parts: readonly MailPart[]): ShownParts {
  const alternatives: Alternative[] = [];
  /** What can be shown, also what another alternative is shown in place of. */
  const bodies = new Set<MailPart>();
  let hasBody = false;

  function read({ part, children }: Node): Bodies {
    if (!part.isMultipart) return readLeaf(part);
    if (part.contentType === "multipart/alternative") return readAlternative(children);
    if (part.contentType === "multipart/related") {
      const root = rootOf(part, children);
      return root === undefined ? NOTHING : read(root);
    }
    const found: Bodies = { shown: [], plain: [] };
    for (const child of children) {
      const { shown, plain } = read(child);
      for (const one of shown) found.shown.push(one);
      for (const one of plain) found.plain.push(one);
    }
    return found;
  }

  function readLeaf(part: MailPart): Bodies {
    if (!mayBeBody(part) || (hasBody && givenName(part) !== "")) return NOTHING;
    hasBody = true;
    bodies.add(part);
    return { shown: [part], plain: [part] };
  }

  function readAlternative(children: readonly Node[]): Bodies {
    const before = hasBody;
    const choices = children.map((child) => {
      // One alternative does not stand behind another: only one of them is shown.
      hasBody = before;
      return read(child);
    }).filter(({ shown }) => shown.length > 0);
    hasBody = before || choices.length > 0;
    const isHtml = (choice: MailPart[]) => choice.some((one) => one.contentType === "text/html");
    // The last of several is the best (RFC 2046, section 5.1.4).
    const chosen = choices.findLast(({ shown }) => isHtml(shown)) ?? choices.at(-1);
    if (chosen === undefined) return NOTHING;
    const plain = choices.findLast((choice) => !isHtml(choice.plain)) ?? chosen;
    const others = choices.filter((choice) => choice !== chosen).map(({ shown }) => shown);
    if (others.length > 0) alternatives.push({ shown: chosen.shown, plain: plain.plain, others });
    return { shown: chosen.shown, plain: plain.plain };
  }

  const { shown, plain } = read(treeOf(parts));
  return {
    shown,
    plain,
    alternatives,
    attachments: parts.filter((part) => !part.isMultipart && !bodies.has(part)),
  };
}

const NOTHING: Bodies = { shown: [], plain: [] };

function mayBeBody({ contentType, disposition }: MailPart): boolean {
  return /^text\/(?:plain|html)$/.test(contentType) && disposition?.value !== "attachment";
}

/** RFC 2387, section 3.2: the part that `start` names, else the first. */
function rootOf({ parameters }: MailPart, children: readonly Node[]): Node | undefined {
  const start = parameters.get("start")?.trim().replace(/^<|>$/g, "");
  const named = start === undefined || start === ""
    ? undefined
    : children.find(({ part }) => part.contentId === start);
  const readable = ({ part }: Node) => part.isMultipart || mayBeBody(part);
  // Some put the picture first: what can be read is meant then.
  return named ?? (children.some(readable) ? children.find(readable) : children[0]);
}

function treeOf([root, ...parts]: readonly MailPart[]): Node {
  const tree: Node = { part: root!, children: [] };
  const open = [tree];
  for (const part of parts) {
    const node = { part, children: [] };
    open.length = part.depth;
    open.at(-1)!.children.push(node);
    open.push(node);
  }
  return tree;
}
