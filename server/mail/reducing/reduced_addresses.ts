/** Addresses that stay in a reduced HTML (mail page, "Drafts"). Pure. */

const MAX_URL_CHARACTERS = 4_096;
/** Others are written differently in an address, which not every program undoes. */
const PLAIN_ID = /^[A-Za-z0-9!$*+.=@_~-]{1,250}$/;
/** Pictures that are the same wherever they are shown: an SVG has rules of its own. */
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;

/** A link of http, https or mailto as browsers write it; null for everything else. */
export function linkAddress(given: string): string | null {
  if (given.length > 2 * MAX_URL_CHARACTERS) return null;
  const url = URL.parse(given.trim());
  if (url === null || !/^(?:https?|mailto):$/.test(url.protocol)) return null;
  return url.href.length > MAX_URL_CHARACTERS ? null : url.href;
}

/** The Content-ID that a `cid:` address names, if it is one of these; else null. */
export function pictureId(src: string, pictures: ReadonlySet<string>): string | null {
  const [, id] = /^cid:(.*)$/is.exec(src.trim()) ?? [];
  return id !== undefined && pictures.has(id) ? id : null;
}

/** Content-IDs that HTML may name: of pictures, and of one attachment each, whatever the case. */
export function picturesOf(
  attachments: readonly { contentType: string; contentId: string | null }[],
): string[] {
  const ids = attachments.map(({ contentId }) => contentId?.toLowerCase());
  return attachments.filter(({ contentType, contentId }) =>
    contentId !== null && PLAIN_ID.test(contentId) && PICTURE.test(contentType) &&
    ids.indexOf(contentId.toLowerCase()) === ids.lastIndexOf(contentId.toLowerCase())
  ).map(({ contentId }) => contentId!);
}
