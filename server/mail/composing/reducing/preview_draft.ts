/** The texts of a draft as its page shows them. Runs in the mail worker too. Pure. */
import { visibleText } from "../../../base/pages/visible_text.ts";
import { attribute } from "../../reading/html/html_tokens.ts";
import { type HtmlWatcher, readHtmlText } from "../../reading/html/html_text.ts";
import { removeInvisible } from "../../reading/mime/invisible_characters.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import type { DraftTexts } from "../../records/draft_record.ts";

/** Escaped already: these stand in a page as they are. */
export interface DraftPreview {
  /** The plain text; null where there is none. */
  text: string | null;
  /** What of the HTML a reader sees, as text. */
  extracted: string | null;
  /** Where links lead that its words do not tell: those that write a mail, those without words; a line each. */
  otherLinks: string;
  /** Whether letters or characters are in them that a reader does not see. */
  hasHidden: boolean;
}

/** @param section bytes of a draft's texts, as they are stored */
export function* previewDraft(section: Uint8Array): Sliced<DraftPreview> {
  const { text, html }: DraftTexts = JSON.parse(new TextDecoder().decode(section));
  const others = otherLinks();
  const extracted = html === null ? null : yield* readHtmlText(html, others.watcher);
  const lines = { keepsLines: true };
  return {
    text: text === null ? null : escape(visibleText(text, lines)),
    extracted: extracted === null ? null : escape(visibleText(extracted.text, lines)),
    otherLinks: escape(visibleText([...others.found].join("\n"), lines)),
    hasHidden: extracted?.hiddenRemoved === true ||
      (text !== null && removeInvisible(text).removed),
  };
}

function otherLinks(): { found: ReadonlySet<string>; watcher: HtmlWatcher } {
  const found = new Set<string>();
  /** Links do not stand in each other. */
  let open: { address: string; isTold: boolean } | null = null;
  const see = () => {
    if (open !== null) open.isTold ||= !open.address.startsWith("mailto:");
  };
  return {
    found,
    watcher: {
      start(tag) {
        const address = tag.tagName === "a" ? attribute(tag, "href") : undefined;
        return address === undefined ? null : open = { address, isTold: false };
      },
      end(started) {
        const { address, isTold } = started as NonNullable<typeof open>;
        if (!isTold) found.add(address);
        if (open === started) open = null;
      },
      single({ tagName }) {
        if (tagName === "img") see();
      },
      text(chars, isHidden) {
        if (!isHidden && chars.trim() !== "") see();
      },
      skipped() {},
      comment() {},
    },
  };
}

/** By native replacements: a megabyte of quotes costs a few ms. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
