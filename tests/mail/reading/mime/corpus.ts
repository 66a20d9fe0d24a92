// Over 300 lines: awkward mails, each with what it has to say, side by side.
/** Awkward mails and what is expected of each. */
import type {
  Automated,
  MailAddress,
  ParseWarning,
} from "../../../../server/mail/reading/parsed/parsed_mail.ts";

export interface AwkwardMail {
  name: string;
  raw: Uint8Array<ArrayBuffer>;
  /** Members that are not named here have the values of `plainExpectation`. */
  expected: Partial<Expectation>;
}

export interface Expectation {
  from: string | null;
  fromName: string | null;
  to: MailAddress[];
  subject: string | null;
  text: string | null;
  html: string | null;
  textSource: "plain" | "html" | "mixed" | "none";
  /** Name, type, disposition, decoded bytes as Latin-1. */
  attachments: [string | null, string, "attachment" | "inline", string][];
  warnings: ParseWarning[];
  automated: Automated;
}

/** Of a mail from a@a.example without a subject whose text is "Hi". */
export const plainExpectation: Expectation = {
  from: "a@a.example",
  fromName: null,
  to: [],
  subject: null,
  text: "Hi",
  html: null,
  textSource: "plain",
  attachments: [],
  warnings: [],
  automated: "none",
};

/** Bytes of Latin-1. */
export function bytesOf(latin1: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(latin1, (character) => character.charCodeAt(0));
}

export function latin1Of(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

const FROM = "From: a@a.example";
const lines = (...all: string[]) => bytesOf(all.join("\r\n"));
const mail = (...all: string[]) => lines(FROM, ...all);
const multipart = (type: string, ...parts: string[][]) =>
  mail(
    `Content-Type: multipart/${type}; boundary="b"`,
    "",
    "preamble",
    ...parts.flatMap((part) => ["--b", ...part]),
    "--b--",
    "epilogue",
  );
const subject = (value: string) => mail(`Subject: ${value}`, "", "Hi");
const body = (type: string, encoding: string, content: string) =>
  mail(`Content-Type: ${type}`, `Content-Transfer-Encoding: ${encoding}`, "", content);
const PDF = ["Content-Type: application/pdf", "", "%PDF"];
const named = (header: string) => multipart("mixed", ["", "Hi"], [...header.split("\n"), "", "x"]);
const xNamed = (name: string | null): Partial<Expectation> => ({
  attachments: [[name, "application/pdf", "attachment", "x"]],
});

const encodings: AwkwardMail[] = [
  { name: "nothing but a text", raw: mail("", "Hi"), expected: {} },
  {
    name: "base64 with blanks, foreign characters and no padding",
    raw: body("text/plain; charset=utf-8", "BASE64", "w6 Qg\r\nw7 Y*"),
    expected: { text: "ä ö", warnings: ["broken_encoding"] },
  },
  {
    name: "base64 in pieces that are padded each",
    raw: body("text/plain", "base64", "SA==\r\naQ=="),
    expected: {},
  },
  {
    name: "one character of base64 too many",
    raw: body("text/plain", "base64", "SGkgQ"),
    expected: { text: "Hi ", warnings: ["broken_encoding"] },
  },
  {
    name: "quoted-printable with soft line ends, blanks behind them and lowercase digits",
    raw: body(
      "text/plain; charset=utf-8",
      "quoted-printable",
      "a=c3=A4=  \r\nb \t\r\nc=20\r\n=3d=",
    ),
    expected: { text: "aäb\nc \n=" },
  },
  {
    name: "quoted-printable that is none",
    raw: body("text/plain", "quoted-printable", "a=zz 100%= b=4"),
    expected: { text: "a=zz 100%= b=4", warnings: ["broken_encoding"] },
  },
  {
    name: "an encoding that is unknown",
    raw: body("text/plain", "x-uuencode", "Hi"),
    expected: { warnings: ["broken_encoding"] },
  },
  {
    name: "an encoding with a comment",
    raw: body("text/plain", "base64 (sic)", "SGk="),
    expected: {},
  },
  {
    name: "8bit",
    raw: body("text/plain; charset=utf-8", "8bit", "\xc3\xa4"),
    expected: { text: "ä" },
  },
];

const charset = (label: string, content: string) =>
  body(`text/plain; charset=${label}`, "8bit", content);
const charsets: AwkwardMail[] = [
  {
    name: "iso-2022-jp",
    raw: charset("ISO-2022-JP", "\x1b$B$3$s\x1b(B"),
    expected: { text: "こん" },
  },
  {
    name: "gb18030",
    raw: charset("gb18030", "\xc4\xe3\x81\x30\x84\x36"),
    expected: { text: "你¥" },
  },
  { name: "koi8-r", raw: charset('"koi8-r"', "\xf0\xd2"), expected: { text: "Пр" } },
  { name: "shift_jis as cp932", raw: charset("cp932", "\x93\xfa"), expected: { text: "日" } },
  { name: "utf-16le", raw: charset("utf-16le", "H\0i\0"), expected: {} },
  {
    name: "an unknown charset",
    raw: charset("x-klingon", "caf\xe9 \x80"),
    expected: { text: "café €", warnings: ["unknown_charset"] },
  },
  {
    name: "utf-7, which nobody should read",
    raw: charset("utf-7", "+ADw-"),
    expected: { text: "+ADw-", warnings: ["unknown_charset"] },
  },
  { name: "no charset and UTF-8", raw: mail("", "\xe2\x82\xac"), expected: { text: "€" } },
  {
    name: "us-ascii that is neither that nor UTF-8",
    raw: charset("us-ascii", "\x80"),
    expected: { text: "€", warnings: ["unknown_charset"] },
  },
  {
    name: "utf-8 that is none",
    raw: charset("utf-8", "a\xffb"),
    expected: { text: "a\ufffdb", warnings: ["broken_encoding"] },
  },
  { name: "a byte order mark", raw: charset("utf-8", "\xef\xbb\xbfHi"), expected: {} },
  { name: "NUL in a text", raw: mail("", "H\0i"), expected: {} },
];

const headers: AwkwardMail[] = [
  {
    name: "encoded words side by side",
    raw: subject("=?utf-8?q?=C3?= =?UTF-8?Q?=A4_b?= c"),
    expected: { subject: "ä b c" },
  },
  {
    name: "encoded words in a folded line",
    raw: subject("=?utf-8?B?w6Q=?=\r\n =?utf-8?B?w7Y=?="),
    expected: { subject: "äö" },
  },
  {
    name: "encoded words of two charsets",
    raw: subject("=?koi8-r?B?8A==?= =?utf-8*en?Q?=C3=A4?="),
    expected: { subject: "Пä" },
  },
  {
    name: "encoded words of iso-2022-jp",
    raw: subject("=?ISO-2022-JP?B?GyRCJDMkcxsoQg==?="),
    expected: { subject: "こん" },
  },
  {
    name: "encoded words of an unknown charset",
    raw: subject("=?x-no?Q?caf=E9?="),
    expected: { subject: "café", warnings: ["unknown_charset"] },
  },
  {
    name: "what only looks like an encoded word",
    raw: subject("=?utf-8?X?a?= =?utf-8?Q?b =??="),
    expected: { subject: "=?utf-8?X?a?= =?utf-8?Q?b =??=" },
  },
  {
    name: "an encoded line end in the subject",
    raw: subject("=?utf-8?Q?a=0D=0ABcc:_b?="),
    expected: { subject: "a  Bcc: b" },
  },
  { name: "8-bit headers, UTF-8", raw: subject("\xc3\xa4"), expected: { subject: "ä" } },
  {
    name: "8-bit headers, no UTF-8",
    raw: subject("\xe4"),
    expected: { subject: "ä", warnings: ["unknown_charset"] },
  },
  { name: "a bare CR in a header", raw: subject("a\rb: c"), expected: { subject: "a b: c" } },
  { name: "NUL in a header", raw: subject("a\0b"), expected: { subject: "a b" } },
  { name: "an empty subject", raw: subject(""), expected: { subject: "" } },
  {
    name: "two subjects",
    raw: mail("Subject: a", "Subject: b", "", "Hi"),
    expected: { subject: "a" },
  },
  {
    name: "a subject that is too long",
    raw: subject("x".repeat(1_200)),
    expected: { subject: "x".repeat(998), warnings: ["subject_cut"] },
  },
  {
    name: "a right-to-left override in a name",
    raw: lines("From: =?utf-8?Q?a=E2=80=AEb?= <a@a.example>", "", "Hi"),
    expected: { fromName: "ab" },
  },
  {
    name: "bare LF throughout",
    raw: bytesOf(`${FROM}\nSubject: a\n b\n\nHi`),
    expected: { subject: "a b" },
  },
  {
    name: "an mbox line, and lines that are no field",
    raw: lines(
      "From me 10:00",
      FROM,
      "no field",
      " more: x",
      "bad name: x",
      "Subject : s",
      "",
      "Hi",
    ),
    expected: { subject: "s" },
  },
  { name: "only headers", raw: lines(FROM, "Subject: s"), expected: { subject: "s", text: "" } },
  { name: "an empty body", raw: lines(FROM, "", ""), expected: { text: "" } },
  { name: "no headers, an empty line first", raw: lines("", "Hi"), expected: { from: null } },
  {
    name: "no headers at all",
    raw: lines("Hi", "there"),
    expected: { from: null, text: "Hi\nthere" },
  },
  { name: "nothing at all", raw: bytesOf(""), expected: { from: null, text: "" } },
  {
    name: "a name of every object",
    raw: mail("__proto__: a", "constructor: b", "", "Hi"),
    expected: {},
  },
];

const addresses: AwkwardMail[] = [
  {
    name: "several From",
    raw: lines("From: a@a.example, b@b.example", "", "Hi"),
    expected: { warnings: ["several_from"] },
  },
  {
    name: "From twice",
    raw: lines(FROM, "From: Bank <b@b.example>", "", "Hi"),
    expected: { warnings: ["several_from"] },
  },
  {
    name: "a From without an address",
    raw: lines("From: Bank", "", "Hi"),
    expected: { from: null, warnings: ["invalid_from"] },
  },
  {
    name: "no From",
    raw: lines("To: b@b.example", "", "Hi"),
    expected: { from: null, to: [{ name: null, address: "b@b.example" }] },
  },
  {
    name: "groups, comments, quotes and routes",
    raw: mail(
      'To: Team: "Doe, \\"J\\"" <j@j.example>, k@k.example (Kay (the) 2nd); <@x.example,@y.example:l@l.example>,',
      " undisclosed-recipients:;, =?utf-8?Q?M=C3=BC,_M?= <m@m.example>",
      "",
      "Hi",
    ),
    expected: {
      to: [
        { name: 'Doe, "J"', address: "j@j.example" },
        { name: "Kay (the) 2nd", address: "k@k.example" },
        { name: null, address: "l@l.example" },
        { name: "Mü, M", address: "m@m.example" },
      ],
    },
  },
  {
    name: "domains of other alphabets, literals and quoted local parts",
    raw: mail('To: a@B\xc3\xbccher.example, b@[192.0.2.1], "c d"@D.example', "", "Hi"),
    expected: {
      to: [
        { name: null, address: "a@xn--bcher-kva.example" },
        { name: null, address: "b@[192.0.2.1]" },
        { name: null, address: '"c d"@d.example' },
      ],
    },
  },
  {
    name: "an address in the name",
    raw: lines('From: "b@bank.example" <a@a.example>', "", "Hi"),
    expected: { fromName: "b@bank.example" },
  },
  {
    name: "two brackets",
    raw: lines("From: <b@bank.example> <a@a.example>", "", "Hi"),
    expected: { from: "b@bank.example", warnings: ["several_from"] },
  },
  {
    name: "quotes and brackets that never end",
    raw: mail('To: "b <b@b.example>, <c@c.example', "", "Hi"),
    expected: { to: [{ name: '"b', address: "b@b.example" }] },
  },
  {
    name: "what is no address",
    raw: mail("To: a, a@, @a, a@b@, a b@c.example, a@b..c/d, <>, <a\x01a@b.example>", "", "Hi"),
    expected: { to: [] },
  },
];

const structures: AwkwardMail[] = [
  {
    name: "text, HTML and an attachment",
    raw: multipart("mixed", [
      "Content-Type: multipart/alternative; boundary=i",
      "",
      "--i",
      "",
      "Hi",
      "--i",
      "Content-Type: text/html",
      "",
      "<b>Hi</b>",
      "--i--",
    ], PDF),
    expected: { html: "<b>Hi</b>", attachments: [[null, "application/pdf", "attachment", "%PDF"]] },
  },
  {
    name: "two texts",
    raw: multipart("mixed", ["", "Hi"], ["Content-Type: text/plain", "", "there"]),
    expected: { text: "Hi\nthere" },
  },
  {
    name: "HTML alone",
    raw: mail("Content-Type: text/html", "", "<p>Hi</p>"),
    expected: { html: "<p>Hi</p>", textSource: "html" },
  },
  {
    name: "HTML beside a text of white space",
    raw: multipart("alternative", ["", " ", ""], ["Content-Type: text/html", "", "<p>Hi</p>"]),
    expected: { html: "<p>Hi</p>", textSource: "html" },
  },
  {
    name: "a boundary that begins like the outer one",
    raw: multipart("mixed", [
      "Content-Type: multipart/mixed; boundary=bb",
      "",
      "--bb",
      "",
      "Hi",
      "--bb--",
    ], PDF),
    expected: { attachments: [[null, "application/pdf", "attachment", "%PDF"]] },
  },
  {
    name: "lines that only begin like a boundary",
    raw: multipart("mixed", ["", "Hi", "--bc", "--b-", "--b--c", " --b", "-- b"]),
    expected: { text: "Hi\n--bc\n--b-\n--b--c\n --b\n-- b" },
  },
  {
    name: "boundaries with white space behind them",
    raw: mail("Content-Type: multipart/mixed; boundary=b", "", "--b \t", "", "Hi", "--b-- ", "x"),
    expected: {},
  },
  {
    name: "boundaries at bare LF",
    raw: bytesOf(
      `${FROM}\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nHi\n--b\nContent-Type: a/b\n\nx\r\n\n--b--`,
    ),
    expected: { attachments: [[null, "a/b", "attachment", "x\r\n"]] },
  },
  {
    name: "bare CR, which ends no line",
    raw: mail("Content-Type: multipart/mixed; boundary=b", "", "--b", "", "Hi\r--b\rx", "--b--"),
    expected: { text: "Hi\n--b\nx" },
  },
  {
    name: "a multipart that never ends",
    raw: mail("Content-Type: multipart/mixed; boundary=b", "", "--b", "", "Hi"),
    expected: { warnings: ["broken_structure"] },
  },
  {
    name: "an inner multipart that never ends",
    raw: multipart(
      "mixed",
      ["Content-Type: multipart/mixed; boundary=i", "", "--i", "", "Hi"],
      PDF,
    ),
    expected: {
      attachments: [[null, "application/pdf", "attachment", "%PDF"]],
      warnings: ["broken_structure"],
    },
  },
  {
    name: "a multipart without a boundary",
    raw: mail("Content-Type: multipart/mixed", "", "Hi"),
    expected: { warnings: ["broken_structure"] },
  },
  {
    name: "a multipart without parts",
    raw: mail("Content-Type: multipart/mixed; boundary=b", "", "Hi"),
    expected: { text: null, textSource: "none", warnings: ["broken_structure"] },
  },
  {
    name: "a part of headers alone, and one without them",
    raw: multipart("mixed", ["Content-Type: a/b"], ["Hi"]),
    expected: { attachments: [[null, "a/b", "attachment", ""]] },
  },
  {
    name: "bytes of an attachment as they are",
    raw: multipart("mixed", ["", "Hi"], ["Content-Type: a/b", "", "\r\n\x00\xff\n\r\n"]),
    expected: { attachments: [[null, "a/b", "attachment", "\r\n\x00\xff\n\r\n"]] },
  },
  {
    name: "a message in the message",
    raw: multipart("mixed", ["", "Hi"], [
      "Content-Type: message/rfc822",
      "",
      "Subject: inner",
      "Content-Type: multipart/mixed; boundary=z",
      "",
      "--z",
      "",
      "no",
      "--z--",
    ]),
    expected: {
      attachments: [[
        null,
        "message/rfc822",
        "attachment",
        "Subject: inner\r\nContent-Type: multipart/mixed; boundary=z\r\n\r\n--z\r\n\r\nno\r\n--z--",
      ]],
    },
  },
  {
    name: "a digest",
    raw: multipart("digest", ["", "Subject: inner"], ["Content-Type: text/plain", "", "Hi"]),
    expected: { attachments: [[null, "message/rfc822", "attachment", "Subject: inner"]] },
  },
  {
    name: "a report of the null sender",
    raw: multipart("report; report-type=delivery-status", ["", "Hi"], [
      "Content-Type: message/delivery-status",
      "",
      "Action: failed",
    ], ["Content-Type: text/rfc822-headers", "", "Subject: s"]),
    expected: {
      automated: "bounce",
      attachments: [
        [null, "message/delivery-status", "attachment", "Action: failed"],
        [null, "text/rfc822-headers", "attachment", "Subject: s"],
      ],
    },
  },
  {
    name: "winmail.dat",
    raw: multipart("mixed", ["", "Hi"], [
      'Content-Type: application/ms-tnef; name="winmail.dat"',
      "Content-Transfer-Encoding: base64",
      "",
      "eJ8+Ig==",
    ]),
    expected: { attachments: [["winmail.dat", "application/ms-tnef", "attachment", 'x\x9f>"']] },
  },
  {
    name: "S/MIME, signed and opaque",
    raw: multipart("signed; protocol=x", ["", "Hi"], [
      "Content-Type: application/pkcs7-signature; name=smime.p7s",
      "Content-Transfer-Encoding: base64",
      "",
      "MIA=",
    ]),
    expected: {
      attachments: [["smime.p7s", "application/pkcs7-signature", "attachment", "0\x80"]],
    },
  },
  {
    name: "a body that is no text",
    raw: body("application/pkcs7-mime", "base64", "MIA="),
    expected: {
      text: null,
      textSource: "none",
      attachments: [[null, "application/pkcs7-mime", "attachment", "0\x80"]],
    },
  },
  {
    name: "text that is an attachment, by disposition and by name",
    raw: multipart("mixed", ["", "Hi"], ["Content-Disposition: attachment", "", "x"], [
      "Content-Type: text/html; name=a.html",
      "",
      "y",
    ], ["Content-Disposition: inline; filename=n.txt", "", "z"]),
    expected: {
      attachments: [
        [null, "text/plain", "attachment", "x"],
        ["a.html", "text/html", "attachment", "y"],
        ["n.txt", "text/plain", "inline", "z"],
      ],
    },
  },
  {
    name: "a calendar, and a picture of the HTML",
    raw: multipart("related", ["", "Hi"], ["Content-Type: text/calendar", "", "x"], [
      "Content-Type: image/png",
      "Content-ID: <i@i.example>",
      "",
      "y",
    ]),
    expected: {
      attachments: [
        [null, "text/calendar", "attachment", "x"],
        [null, "image/png", "inline", "y"],
      ],
    },
  },
  {
    name: "a type that is none",
    raw: mail("Content-Type: text", "", "Hi"),
    expected: {},
  },
];

const names: AwkwardMail[] = ([
  [
    "in pieces, some encoded",
    "Content-Type: application/pdf\nContent-Disposition: attachment; filename*1=b;\n filename*0*=utf-8'en'%C3%A4%20; filename*2*=%2Epdf",
    "ä b.pdf",
  ],
  [
    "encoded at once, before the plain form",
    "Content-Type: application/pdf\nContent-Disposition: attachment; filename=a.pdf; filename*=koi8-r''%F0.pdf",
    "П.pdf",
  ],
  ["by encoded words", 'Content-Type: application/pdf; name="=?utf-8?Q?=C3=A4.pdf?="', "ä.pdf"],
  ["with a path", 'Content-Type: application/pdf; name="C:\\\\x\\..\\e.pdf"', "e.pdf"],
  [
    "with a path of the other kind",
    "Content-Type: application/pdf; name=../../etc/passwd",
    "passwd",
  ],
  ["without quotes, with blanks", "Content-Type: application/pdf; name=my file.pdf", "my file.pdf"],
  [
    "with semicolons and comments",
    'Content-Type: application/pdf (a; b=c); name="a;(b).pdf" (c)',
    "a;(b).pdf",
  ],
  ["of 8 bits", 'Content-Type: application/pdf; name="\xc3\xa4"', "ä"],
  ["of dots", 'Content-Type: application/pdf; name=".."', null],
  ["turned round", "Content-Type: application/pdf; name*=utf-8''a%E2%80%AEfdp.exe", "afdp.exe"],
  ["with a line end", "Content-Type: application/pdf; name*=utf-8''a%0D%0Ab", "a  b"],
  [
    "that is too long",
    `Content-Type: application/pdf; name="${"x".repeat(300)}.pdf"`,
    `${"x".repeat(251)}.pdf`,
  ],
  [
    "of a property of every object",
    "Content-Type: application/pdf; __proto__*0*=utf-8''x; constructor=y",
    null,
  ],
] as const).map(([name, header, expected]) => ({
  name: `a file name ${name}`,
  raw: named(header),
  expected: xNamed(expected),
}));

export const AWKWARD_MAILS: readonly AwkwardMail[] = [
  ...encodings,
  ...charsets,
  ...headers,
  ...addresses,
  ...structures,
  ...names,
];
