/** The texts of a draft as its page shows them. Runs in the mail worker too. Pure. */
import { visibleText } from "../../pages/visible_text.ts";
import { readHtmlText } from "../parsing/html_text.ts";
import { removeInvisible } from "../parsing/invisible_characters.ts";
import type { Sliced } from "../parsing/sliced.ts";
import type { DraftTexts } from "../records/draft_record.ts";

/** Escaped already: these stand in a page as they are. */
export interface DraftPreview {
  /** The plain text; null where there is none. */
  text: string | null;
  /** What of the HTML a reader sees, as text. */
  extracted: string | null;
  /** Whether letters or characters are in them that a reader does not see. */
  hasHidden: boolean;
}

/** @param section bytes of a draft's texts, as they are stored */
export function* previewDraft(section: Uint8Array): Sliced<DraftPreview> {
  const { text, html }: DraftTexts = JSON.parse(new TextDecoder().decode(section));
  const extracted = html === null ? null : yield* readHtmlText(html);
  const lines = { keepsLines: true };
  return {
    text: text === null ? null : escape(visibleText(text, lines)),
    extracted: extracted === null ? null : escape(visibleText(extracted.text, lines)),
    hasHidden: extracted?.hiddenRemoved === true ||
      (text !== null && removeInvisible(text).removed),
  };
}

/** By native replacements: a megabyte of quotes costs a few ms. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
