/** Addresses that stay in a reduced HTML (docs/mail.md, "HTML that a person approves"). Pure. */

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

/** A picture that goes out with an HTML, which may name it. */
export interface OwnPicture {
  contentId: string;
  sizeBytes: number;
}

/** Bytes of all pictures of an HTML where they stand in it, for who shows it: each time that it names one. */
const SHOWN_BYTES = 16 * 1024 * 1024;

/** Tells which `cid:` addresses of an HTML name a picture of its own, in the order of the HTML. */
export function pictureNames(pictures: readonly OwnPicture[]): (src: string) => string | null {
  const sizes = new Map(pictures.map(({ contentId, sizeBytes }) => [contentId, sizeBytes]));
  let left = SHOWN_BYTES;
  return (src) => {
    const [, id] = /^cid:(.{1,250})$/is.exec(src.trim()) ?? [];
    const sizeBytes = id === undefined ? undefined : sizes.get(id);
    if (sizeBytes === undefined || sizeBytes > left) return null;
    left -= sizeBytes;
    return id!;
  };
}

/** The attachments that HTML may name: pictures, by an id of one attachment alone, whatever its case. */
export function ownPictures<
  A extends { contentType: string; contentId: string | null },
>(attachments: readonly A[]): (A & { contentId: string })[] {
  const ids = attachments.map(({ contentId }) => contentId?.toLowerCase());
  return attachments.filter((one): one is A & { contentId: string } => {
    const { contentType, contentId } = one;
    if (contentId === null || !PLAIN_ID.test(contentId) || !PICTURE.test(contentType)) return false;
    const id = contentId.toLowerCase();
    return ids.indexOf(id) === ids.lastIndexOf(id);
  });
}
