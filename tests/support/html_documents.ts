/** HTML for properties of the code that reads and reduces it. */
import fc from "./seeded_fast_check.ts";

const NAMES =
  `p div span a b strong i em u s small sub sup h1 h3 h6 ul ol li dl dt dd blockquote pre code hr
  br table caption thead tbody tfoot tr td th img font center section noscript template svg math form
  button select option textarea plaintext title style iframe object details summary x-y body html nobr`
    .split(/\s+/);
const STYLES =
  `color:#fff;color:red;color:inherit;background:#000;background-color:#00e;font-size:2em;
  font-size:3px;font-size:50%;margin:0 auto;margin-left:30px;margin:-5px;padding:64px;line-height:0;
  line-height:30px;width:100%;width:1px;width:300px;width:60%;padding:0 64px;margin:0 64px;max-width:1px;white-space:nowrap;letter-spacing:-1em;max-width:600px;border:1px solid #ccc;border-top:none;
  font-family:'Arial Black', x, serif;position:fixed;display:none;vertical-align:super;text-align:right;
  background:rgba(0,0,0,.5) url(x);color:rgba(0,0,0,.2);float:left;text-decoration:underline overline`
    .split(/;\s*/);
const attributes = fc.array(
  fc.oneof(
    fc.array(fc.constantFrom(...STYLES), { maxLength: 4 }).map((all) => `style="${all.join(";")}"`),
    fc.constantFrom(
      "hidden",
      "class=h",
      "id='i'",
      "align=center",
      "align=left",
      "width=1",
      "width=900",
      "valign=top",
      "width=100%",
      "height=20",
      "colspan=3",
      "rowspan=2",
      "dir=rtl",
      "dir=auto",
      "dir=ltr",
      "lang=en",
      "start=-7",
      "bgcolor=navy",
      "href='https://e.org/?a&b'",
      "href=mailto:x@y.z",
      "href=javascript:1",
      "src=cid:logo@example",
      "src=https://t.example/i.png",
      "alt='A \"b\" <c>'",
      "onclick=x()",
    ),
  ),
  { maxLength: 3 },
);
const piece = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constantFrom(...NAMES), attributes).map(([n, a]) =>
      `<${n} ${a.join(" ")}>`
    ),
  },
  { weight: 4, arbitrary: fc.constantFrom(...NAMES).map((n) => `</${n}>`) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      "word",
      " two words ",
      "\n",
      "\n\n x",
      "&amp;lt;",
      "&#13;\n",
      "\r",
      "\u200b",
      "&nbsp;".repeat(30),
      "\u202e",
      "<!-- c -->",
      "<![if !mso]>",
      "<style>.h{display:none} p{color:#fff}</style>",
      "&#x80;&#0;\f",
      "a < b & c",
      "<",
      "</",
      "\u0301",
    ),
  },
);
/** Documents of everything that a mail may be made of, nested wrongly as often as rightly. */
export const htmlDocuments = fc.array(piece, { maxLength: 40 }).map((all) => all.join(""));
