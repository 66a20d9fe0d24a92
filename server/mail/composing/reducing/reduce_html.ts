/**
 * The HTML of a mail that a person has to approve: reduced to what can be shown, so that what they see
 * is what goes out (docs/mail.md). Pure; linear in its length. Runs in the mail worker.
 */
import { attribute } from "../../reading/html/html_tokens.ts";
import { type HtmlWatcher, readHtmlText, type WatchedTag } from "../../reading/html/html_text.ts";
import type { Look } from "../../reading/css/hidden_rule.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import { cleanText } from "./clean_text.ts";
import { CELLS, reducedName, SINGLE, UNNAMED } from "./element_rules.ts";
import { type HtmlWriter, htmlWriter, type WrittenElement } from "./html_writer.ts";
import { reduceAttributes } from "./reduce_attributes.ts";
import { linkAddress, type OwnPicture, pictureNames } from "./reduced_addresses.ts";
import { type RemovedNames, removedNames } from "./removed_names.ts";

export interface ReducedHtml {
  /** Lines end in LF. */
  html: string;
  /** What was taken out, sorted. */
  removed: string[];
  /** Addresses of pictures that lie elsewhere, the first of them: a reader is told, and loads none. */
  remote: string[];
}

const TOLD_REMOTE = 50;

const LETTERS = /[\p{L}\p{N}]/u;

/**
 * Reduces an HTML: what this returns is returned again when it is given it.
 * @param pictures that go out with it, and that it may name
 */
export function* reduceHtml(
  html: string,
  pictures: readonly OwnPicture[],
): Sliced<ReducedHtml> {
  const removed = removedNames();
  const writer = htmlWriter(removed);
  const remote = new Set<string>();
  yield* readHtmlText(html, watcherOf(writer, removed, remote, pictureNames(pictures)));
  return { html: writer.result(), removed: removed.list(), remote: [...remote] };
}

function watcherOf(
  writer: HtmlWriter,
  removed: RemovedNames,
  remote: Set<string>,
  pictureId: (src: string) => string | null,
): HtmlWatcher {
  /** @returns null where the element does not stay */
  function place(
    name: string,
    { attrs }: WatchedTag,
    given: Record<string, string> = {},
  ): { written: string; element: () => WrittenElement } | null {
    if (!writer.makeRoom(name)) return null;
    const around = writer.look();
    const reduced = reduceAttributes({ name, attrs, around, given }, removed);
    if (reduced === null) {
      removed.add("nesting");
      return null;
    }
    const { written, look } = reduced;
    return { written, element: () => writer.open(name, written, look) };
  }

  function picture(tag: WatchedTag, { hidesPictures }: Look): void {
    const words = cleanText(attribute(tag, "alt") ?? "").text.trim();
    if (hidesPictures) {
      removed.add(LETTERS.test(words) ? "hidden_text" : "pictures");
      return;
    }
    const src = attribute(tag, "src") ?? "";
    const id = pictureId(src);
    if (id !== null) {
      const own = place("img", tag, { src: `cid:${id}` });
      if (own !== null) return writer.single("img", own.written);
    }
    const address = linkAddress(src);
    const isRemote = address !== null && !address.startsWith("mailto:");
    removed.add(isRemote ? "remote_pictures" : "pictures");
    if (isRemote && remote.size < TOLD_REMOTE) remote.add(address);
    if (!isRemote || writer.has("a")) {
      return writer.text(words === "" && isRemote ? address : words);
    }
    const link = place("a", { tagName: "a", attrs: [] }, { href: address });
    const element = link?.element();
    writer.text(words === "" ? address : words);
    if (element !== undefined) writer.close(element);
  }

  return {
    start(tag, look) {
      if (look.gone) return null;
      const { tagName } = tag;
      const name = reducedName(tagName);
      if (name !== tagName && !UNNAMED.has(tagName)) removed.addNamed("element", tagName);
      if (name === null || SINGLE.has(name)) return null;
      if (name === "a") {
        const href = attribute(tag, "href");
        const address = href === undefined ? null : linkAddress(href);
        if (address !== null) return place("a", tag, { href: address })?.element() ?? null;
        if (href !== undefined) removed.add("links");
        return place("span", { ...tag, attrs: tag.attrs.filter((one) => one.name !== "href") })
          ?.element() ?? null;
      }
      if (tagName === "center") {
        return place(name, tag, { align: "center" })?.element() ?? null;
      }
      return (CELLS.has(name) ? cell(name, tag) : place(name, tag))?.element() ?? null;
    },
    end(started) {
      writer.close(started as WrittenElement);
    },
    single(tag, look) {
      const { tagName } = tag;
      if (tagName === "img" || tagName === "image") return picture(tag, look);
      if (look.gone) return;
      if (tagName === "br") return br(tag);
      if (tagName === "hr") {
        const rule = place("hr", tag);
        if (rule !== null) writer.single("hr", rule.written);
        return;
      }
      removed.addNamed("element", tagName);
    },
    text(chars, isHidden) {
      if (!isHidden) writer.text(chars);
      else if (LETTERS.test(chars)) removed.add("hidden_text");
    },
    skipped(name) {
      if (name === "style") removed.add("style_sheets");
      else if (!UNNAMED.has(name)) removed.addNamed("element", name);
    },
    comment() {
      removed.add("comments");
    },
  };

  function br({ attrs }: WatchedTag): void {
    for (const { name } of attrs) removed.addNamed("attribute", name);
    if (writer.makeRoom("br")) writer.single("br", "");
  }

  /** Spans are cut to what lies over no other cell, which is known once the row is open. */
  function cell(name: string, tag: WatchedTag) {
    if (!writer.makeRoom(name)) return null;
    const asked = (which: string) => {
      const value = attribute(tag, which) ?? "";
      return /^\s{0,9}\d{1,5}/.test(value) ? Math.max(1, parseInt(value, 10)) : 1;
    };
    const wanted = { columns: asked("colspan"), rows: asked("rowspan") };
    const fits = writer.spans().cell(wanted.columns, wanted.rows);
    const given: Record<string, string> = {};
    if (fits.columns > 1) given["colspan"] = String(fits.columns);
    if (fits.rows > 1) given["rowspan"] = String(fits.rows);
    if (fits.columns !== wanted.columns) removed.addNamed("attribute", "colspan");
    if (fits.rows !== wanted.rows) removed.addNamed("attribute", "rowspan");
    const attrs = tag.attrs.filter((one) => one.name !== "colspan" && one.name !== "rowspan");
    return place(name, { ...tag, attrs }, given);
  }
}
