/** HTML by its grammar, right and wrong: formatting, blocks, tables, style sheets, long attributes. */
import fc from "./seeded_fast_check.ts";

const FORMATTING = ["b", "i", "font", "a", "nobr", "small"];
const BLOCKS =
  "p div span table tr td th tbody li ul ol dd h1 h2 form button pre blockquote center svg template"
    .split(" ");
const NAMES = [...FORMATTING, ...BLOCKS];
const name = fc.oneof(fc.constantFrom(...FORMATTING), fc.constantFrom(...NAMES));
const word = fc.constantFrom("a", "b", "c", "\\61", "d-e");

const value = fc.oneof(
  fc.constantFrom(
    "none",
    "block",
    "hidden",
    "0",
    "1px",
    "0.5em",
    "20%",
    "-9999px",
    "inherit",
    "initial",
    "smaller",
    "red",
    "#fff",
    "white",
    "rgb(0,0,0,.01)",
    "url(x)",
    "bold 1px/2 Arial",
    "rect(0,0,0,0)",
    "circle(0)",
    "scale(0)",
    "pre",
  ),
  fc.nat(60).map((count) => "0 ".repeat(count)),
);
const property = fc.constantFrom(
  ..."display visibility opacity font font-size color background background-color background-image left inset text-indent transform translate clip clip-path overflow overflow-x height width max-height white-space mso-hide margin dis\\70lay"
    .split(" "),
);
const declaration = fc.tuple(property, value, fc.boolean()).map(([property, value, isImportant]) =>
  `${property}:${value}${isImportant ? " !important" : ""};`
);
const declarations = fc.array(declaration, { maxLength: 6 }).map((list) => list.join(""));

const attribute = fc.oneof(
  declarations.map((text) => ` style="${text}"`),
  fc.array(word, { maxLength: 6 }).map((words) => ` class="${words.join(" ")}"`),
  word.map((id) => ` id=${id}`),
  fc.constantFrom(
    " hidden",
    " href=https://a.test/",
    ' href="b"',
    " bgcolor=black",
    " color=white",
    " width=0",
    " height=0",
    " background=x",
    " start=3",
  ),
  fc.tuple(word, fc.nat(300)).map(([name, length]) => ` data-${name}="${"x".repeat(length)}"`),
);

const piece = fc.oneof(
  { weight: 4, arbitrary: name.map((name) => `<${name}>`) },
  {
    weight: 4,
    arbitrary: fc.tuple(name, fc.array(attribute, { maxLength: 3 })).map(([name, attributes]) =>
      `<${name}${attributes.join("")}>`
    ),
  },
  { weight: 6, arbitrary: name.map((name) => `</${name}>`) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "word ",
      "x",
      " ",
      "&amp;&#160;",
      "\u{1f600}",
      "\u200b\u200b",
      "\r\n",
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "<br>",
      "<hr>",
      "<!-- c -->",
      "<!",
      "<",
      "&",
      "<img alt=pic src=x>",
      "<p/>",
    ),
  },
);

const selector = fc.oneof(
  fc.constantFrom(...NAMES, "*", "p > b", "a:hover", ".\\a\\a\\a:x"),
  word.map((word) => `.${word}`),
  word.map((word) => `#${word}`),
  fc.tuple(name, word).map(([name, word]) => `${name}.${word}`),
);
const rule = fc.tuple(fc.array(selector, { minLength: 1, maxLength: 5 }), declarations).map(
  ([selectors, block]) => `${selectors.join(",")}{${block}}`,
);
const sheet = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: rule },
    { weight: 1, arbitrary: rule.map((rule) => `@media print{${rule}}`) },
    { weight: 1, arbitrary: fc.constantFrom("/* c */", "@import x;", "}", "'", "<!--") },
  ),
  { maxLength: 8 },
).map((rules) => `<style>${rules.join("")}</style>`);

/** A document's pieces: together it, or again and again what is larger than it. */
export const htmlPieces = fc.tuple(
  fc.constantFrom("", "<!DOCTYPE html>", "<table>", "<p>"),
  fc.array(fc.oneof({ weight: 20, arbitrary: piece }, { weight: 2, arbitrary: sheet }), {
    maxLength: 40,
  }),
).map(([start, pieces]) => [start, ...pieces]);
