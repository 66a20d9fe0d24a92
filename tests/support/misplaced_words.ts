/// <reference lib="dom" />
/** Words that lie over others or over pictures, or out of reach of scrolling. Runs in the page. */
export function misplacedWords(): string[] {
  const placed: { what: string; box: DOMRect }[] = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode as Text;
    for (const { 0: what, index } of node.data.matchAll(/[^\s\u00a0\u3000]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + what.length);
      for (const box of range.getClientRects()) placed.push({ what, box });
    }
  }
  const { scrollWidth, scrollHeight } = document.documentElement;
  const isOut = ({ left, top, right, bottom, width, height }: DOMRect) =>
    width <= 0 || height < 8 || left < -1 || top < -1 || right > scrollWidth + 1 ||
    bottom > scrollHeight + 1;
  const out = placed.filter(({ box }) => isOut(box)).map(({ what }) => `out: ${what}`);
  // Lines of one paragraph may touch: a third of a word's height is more than that.
  const covers = (a: DOMRect, b: DOMRect, height: number) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > height / 3;
  const pictures = [...document.images].map((img) => img.getBoundingClientRect());
  const over = placed.flatMap(({ what, box }, i) => [
    ...placed.slice(i + 1)
      .filter((other) => covers(box, other.box, Math.min(box.height, other.box.height)))
      .map((other) => `${what} over ${other.what}`),
    ...pictures.filter((picture) => covers(box, picture, box.height))
      .map(() => `a picture over ${what}`),
  ]);
  return [...out, ...over];
}
