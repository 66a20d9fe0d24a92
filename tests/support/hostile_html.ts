/** HTML that is dear to read for its length: each shape in the size that is asked for. */

/** Everything that hides text, so that each element has all of it to be judged by. */
const PROPERTIES =
  `background:#fff;background-color:#fff;background-image:none;bottom:0;clip:auto;clip-path:none;
color:#000;display:block;font:12px a;font-size:12px;height:auto;inset:0;left:0;margin:0;margin-bottom:0;
margin-left:0;margin-right:0;margin-top:0;max-height:9em;max-width:9em;mso-hide:none;opacity:1;
overflow:visible;overflow-x:visible;overflow-y:visible;right:0;text-indent:0;top:0;transform:none;
translate:0;visibility:visible;white-space:normal;width:auto`;
const LINGERING = 4;

const repeated = (start: string, piece: string | ((i: number) => string), end = "") =>
(
  sizeBytes: number,
): string => {
  const pieces = [start];
  let left = sizeBytes - start.length - end.length;
  for (let i = 0; left > 0; i++) {
    const next = typeof piece === "string" ? piece : piece(i);
    pieces.push(next);
    left -= next.length;
  }
  return pieces.join("") + end;
};

/** Formatting that lingers behind wrong nesting, and is judged again at every paragraph. */
function lingering(open: (sizeBytes: number) => string) {
  return (sizeBytes: number): string => {
    const start = `<style>b{${PROPERTIES}}.a{${PROPERTIES}}</style><p>${
      open(sizeBytes / (2 * LINGERING)).repeat(LINGERING)
    }</p>`;
    return repeated(start, "<p>x")(sizeBytes);
  };
}

/** By name: ASCII of about so many bytes. */
export const HOSTILE_HTML: Readonly<Record<string, (sizeBytes: number) => string>> = {
  "lingering formatting with many classes": lingering((size) =>
    `<b class="${"a ".repeat(size / 2)}">`
  ),
  "lingering formatting with a long style": lingering((size) =>
    `<b style="${"top:0;".repeat(size / 6)}">`
  ),
  "lingering formatting with a long attribute": lingering((size) =>
    `<b height="${" ".repeat(size)}" style="overflow:hidden">`
  ),
  "an element of every id": repeated(
    `<style>*{${PROPERTIES}}b{${PROPERTIES}}</style>`,
    (i) => `<b id=${i}>x`,
  ),
  "long values of every property": (sizeBytes) => {
    const long = PROPERTIES.replaceAll(";", `${" a".repeat(sizeBytes / 200)};`);
    return repeated(`<style>*{${long}}</style>`, (i) => `<p id=${i}>x`)(sizeBytes);
  },
  "a long block with many selectors": (sizeBytes) =>
    repeated("<style>", (i) => `a${i},`)(sizeBytes / 2) +
    repeated(`b{`, "color:red;", "}</style>x")(sizeBytes / 2),
  "one selector again and again": (sizeBytes) =>
    repeated("<style>", "a,")(sizeBytes / 2) +
    repeated("a{", "color:red;", "}</style><a>x")(sizeBytes / 2),
  "a selector of escapes": (sizeBytes) =>
    `${repeated("<style>.", "\\a", ":x{top:0}</style>x")(sizeBytes)}`,
  "a property of escapes": repeated('<p style="', "\\a", ':0">x'),
  "attributes of many names": repeated("<p ", (i) => `a${i} `, ">x"),
  "many classes of many rules": (sizeBytes) => {
    const count = Math.floor(sizeBytes / 30);
    const classes = Array.from({ length: count }, (_, i) => `c${i}`);
    return `<style>${classes.map((name) => `.${name}{top:0}`).join("")}</style>` +
      `<p class="${classes.join(" ")}">x`.repeat(2);
  },
  "selectors of what is around, in deep nesting": (sizeBytes) =>
    repeated("<style>", (i) => `.z${i} div div div{color:red}`, "</style>")(sizeBytes / 2) +
    repeated("", "<div>")(sizeBytes / 2),
  "selectors that nearly match, around": (sizeBytes) =>
    `<style>${".a .a .a .a .a .a .z b{color:red}".repeat(20)}</style>` +
    repeated("", "<div class=a>")(sizeBytes / 2) + repeated("", "<b>x</b>")(sizeBytes / 2),
  "selectors of what stood before": (sizeBytes) =>
    `<style>${".a ~ .a ~ .a ~ .a ~ .z ~ b{color:red}".repeat(20)}</style>` +
    repeated("", "<i class=a></i><b>x</b>")(sizeBytes),
  "selectors of long attributes": (sizeBytes) =>
    repeated("<style>", (i) => `[title*="${i}a"]{color:red}`, "</style>")(sizeBytes / 2) +
    repeated("<p title='", "0", "'>x")(sizeBytes / 4) +
    repeated("", "<p title=x>x")(sizeBytes / 4),
  "rules of every kind for every element": (sizeBytes) =>
    repeated("<style>", (i) => `*:not(.c${i}):nth-child(2n){color:red}`, "</style>")(
      sizeBytes / 2,
    ) +
    repeated("", "<p>x")(sizeBytes / 2),
  "rules in media in rules": (sizeBytes) =>
    repeated("<style>", "@media screen{", ".a{color:red}</style><p class=a>x")(sizeBytes),
  "not of not": (sizeBytes) =>
    repeated("<style>", ":not(:not(a,a),:is(a)){color:red}", "</style><p>x")(sizeBytes),
  "conditional comments": repeated("", "<!--[if mso]><a <b <style><![endif]-->"),
  "a conditional comment": repeated("<!--[if mso]>", "<a <style", "-->"),
  "one comment": repeated("<!--", "- ", "-->x"),
  "one word": repeated("", "x"),
};
