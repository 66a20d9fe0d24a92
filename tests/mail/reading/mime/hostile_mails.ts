/** Mails that are made to take long, as large as the relay takes them. */

const bytesOf = (text: string) => new TextEncoder().encode(text);

const MIB = 1024 * 1024;
export const LARGEST = 25 * MIB;
const HEAD = "From: A <a@a.example>\r\nTo: b@b.example\r\nSubject: s\r\n";

/** A text over and over, so many characters long. */
function many(text: string, length: number): string {
  return text.repeat(Math.ceil(length / text.length)).slice(0, length);
}

function nested(depth: number, boundary: (level: number) => string): string {
  const levels = Array.from({ length: depth }, (_, level) => boundary(level));
  return levels.map((b) => `Content-Type: multipart/mixed; boundary=${b}\r\n\r\n--${b}\r\n`).join(
    "",
  );
}

const long = (level: number) => `${"b".repeat(66)}${String(level).padStart(4, "0")}`;
const parts = `${HEAD}Content-Type: multipart/mixed; boundary=x\r\n\r\n`;

/** Each makes its mail when it is wanted: together they are too much. */
export const HOSTILE_MAILS: Readonly<Record<string, () => Uint8Array<ArrayBuffer>>> = {
  "25 MiB of text": () =>
    bytesOf(`${HEAD}\r\n${many("How are you? Fine, thank you.\r\n", LARGEST)}`),
  "one line of 25 MiB": () => bytesOf(`${HEAD}\r\n${many("a", LARGEST)}`),
  "12 MiB of Cyrillic text and as much HTML": () =>
    bytesOf(
      `${parts}--x\r\n\r\n${many("Привет ", LARGEST / 4)}\r\n` +
        `--x\r\nContent-Type: text/html; charset=utf-8\r\n\r\n${
          many("<p>Привет</p>", LARGEST / 4)
        }\r\n--x--`,
    ),
  "25 MiB of line ends": () => bytesOf(`${parts}--x\r\n\r\n${many("\n", LARGEST)}`),
  "25 MiB of short lines like boundaries": () =>
    bytesOf(`${HEAD}${nested(50, (level) => `b${level}`)}${many("\r\n--", LARGEST)}`),
  "25 MiB of lines nearly like long boundaries, 50 of them": () =>
    bytesOf(`${HEAD}${nested(50, long)}\r\n${many(`--${long(9_999)}\r\n`, LARGEST)}`),
  "25 MiB of quotes": () => bytesOf(`${HEAD}\r\n${many("> a\r\n", LARGEST)}`),
  "25 MiB of quoted-printable": () =>
    bytesOf(
      `${HEAD}Content-Transfer-Encoding: quoted-printable\r\n\r\n${many("=C3=A4 \r\n", LARGEST)}`,
    ),
  "25 MiB of blanks in quoted-printable": () =>
    bytesOf(
      `${HEAD}Content-Transfer-Encoding: quoted-printable\r\n\r\n${many("= ", LARGEST / 2)}${
        many(" ", LARGEST / 2)
      }`,
    ),
  "25 MiB of base64": () =>
    bytesOf(
      `${parts}--x\r\nContent-Type: a/b\r\nContent-Transfer-Encoding: base64\r\n\r\n${
        many("QUJD\r\n", LARGEST)
      }`,
    ),
  "200,000 parts": () => bytesOf(`${parts}${"--x\r\n\r\na\r\n".repeat(200_000)}--x--`),
  "200,000 attachments": () =>
    bytesOf(`${parts}${"--x\r\nContent-Type: a/b; name=a\r\n\r\na\r\n".repeat(200_000)}--x--`),
  "2,000 multiparts in each other": () =>
    bytesOf(`${HEAD}${nested(2_000, (level) => `b${level}`)}\r\nHi`),
  "2 MiB of folded headers": () =>
    bytesOf(`${HEAD}${many("X-A: b\r\n c\r\n", 2 * MIB - 200)}\r\n\r\nHi`),
  "one header of 2 MiB": () => bytesOf(`${HEAD}X-A:${many("\r\n b", 2 * MIB - 200)}\r\n\r\nHi`),
  "700,000 headers": () => bytesOf(`${HEAD}${many("a:\n", 2 * MIB - 200)}\r\nHi`),
  "25 MiB of headers": () => bytesOf(`${HEAD}${many("X-A: b\r\n c\r\n", LARGEST)}`),
  "200,000 addresses": () =>
    bytesOf(`From: a@a.example\r\nTo: ${"b@b.example, ".repeat(150_000)}\r\n\r\nHi`),
  "200,000 senders": () => bytesOf(`From: ${"b@b.exam, ".repeat(200_000)}\r\n\r\nHi`),
  "100,000 encoded words": () =>
    bytesOf(`${HEAD}X: ${"=?utf-8?Q?=C3=A4?= ".repeat(100_000)}\r\n\r\nHi`),
  "100,000 unknown charsets": () => {
    const words = Array.from({ length: 100_000 }, (_, i) => `=?x${i}?Q?=C3?=`).join(" ");
    return bytesOf(`From: a@a.example\r\nSubject: ${words}\r\n\r\nHi`);
  },
  "100,000 headers of unknown charsets": () =>
    bytesOf(
      `${HEAD}${Array.from({ length: 100_000 }, (_, i) => `a:=?x${i}?Q?b?=\n`).join("")}\r\nHi`,
    ),
  "deep comments": () =>
    bytesOf(`From: ${"(".repeat(MIB)}${")".repeat(MIB - 200)} a@a.example\r\n\r\nHi`),
  "quotes, brackets and colons without end": () =>
    bytesOf(
      `From: ${many("a@:", MIB / 2)}\r\nTo: ${many('"\\', MIB / 2)}\r\nCc: ${
        many("<", MIB / 2)
      }\r\n\r\nHi`,
    ),
  "half a MiB of parameters": () =>
    bytesOf(`${HEAD}Content-Type: text/plain; ${many("a*1*=%41; ", MIB / 2)}\r\n\r\nHi`),
  "100,000 references": () =>
    bytesOf(`${HEAD}References: ${"<a@b> <b@b> ".repeat(100_000)}\r\n\r\nHi`),
};
