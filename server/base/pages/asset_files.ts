/** The files that pages load. They are imported as modules: the relay reads no file for them. */
import { createHash } from "node:crypto";
import copy from "./copy.js" with { type: "text" };
import embed from "./embed.js" with { type: "text" };
import live from "./live.js" with { type: "text" };
import look from "./look.css" with { type: "text" };
import mailboxStyle from "./mailbox.css" with { type: "text" };
import mailbox from "./mailbox.js" with { type: "text" };
import icon from "./relay.svg" with { type: "text" };
import style from "./relay.css" with { type: "text" };

export interface AssetFile {
  /** Name with the hash of the content: one name never has two contents. */
  name: string;
  path: string;
  type: string;
  text: string;
}

/** The one stylesheet of all pages but those for mail; at most 16 kB. */
export const STYLESHEET: AssetFile = fileOf("css", "text/css; charset=utf-8", style);
export const ICON: AssetFile = fileOf("svg", "image/svg+xml", icon);
/** Brings what a page shows up to date while it is looked at; at most 2 kB. */
export const LIVE_SCRIPT: AssetFile = fileOf("js", "text/javascript; charset=utf-8", live);
/** Puts a button beside each block of code; at most 2 kB. */
export const COPY_SCRIPT: AssetFile = fileOf("js", "text/javascript; charset=utf-8", copy);
/** Fits a page inside another one, and hands it the fragment; at most 2 kB. */
export const EMBED_SCRIPT: AssetFile = fileOf("js", "text/javascript; charset=utf-8", embed);
/** The look and the parts of the pages for mail; at most 16 kB. */
export const MAILBOX_STYLESHEET: AssetFile = fileOf(
  "css",
  "text/css; charset=utf-8",
  look + mailboxStyle,
);
/** Keys, copying and what comes while one looks, on the pages for mail; at most 6 kB. */
export const MAILBOX_SCRIPT: AssetFile = fileOf("js", "text/javascript; charset=utf-8", mailbox);

export const ASSET_FILES: readonly AssetFile[] = [
  STYLESHEET,
  ICON,
  LIVE_SCRIPT,
  COPY_SCRIPT,
  EMBED_SCRIPT,
  MAILBOX_STYLESHEET,
  MAILBOX_SCRIPT,
];

function fileOf(extension: string, type: string, text: string): AssetFile {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const name = `relay.${hash}.${extension}`;
  return { name, path: `/assets/${name}`, type, text };
}
