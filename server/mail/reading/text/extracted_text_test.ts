import assert from "node:assert/strict";
import fc from "../../../../tests/support/seeded_fast_check.ts";
import { extractText as extractInSlices } from "./extracted_text.ts";
import type { MailKind } from "./mail_kind.ts";
import { toEnd } from "../../../base/slices/sliced.ts";

const extract = (text: string, kind: MailKind = "reply") => toEnd(extractInSlices(text, { kind }));
const extractText = (text: string) => extract(text).text;

const OWN = "Thanks, Thursday works.\n\n-- \nBo";

/** What mail programs put below an answer, by program. */
const QUOTED: Readonly<Record<string, string>> = {
  "Gmail":
    "On Fri, May 3, 2024 at 10:12 AM Ann Lee <ann@a.test> wrote:\n\n> Does Thursday work?\n>",
  "Gmail, wrapped":
    "On Fri, May 3, 2024 at 10:12 AM Ann Marie Elizabeth Lee\n<ann@a.test> wrote:\n> x",
  "Gmail, wrapped twice":
    "On Fri, May 3, 2024 at\n10:12 AM Ann Marie Elizabeth Lee\n<ann@a.test> wrote:\n> x",
  "Apple Mail":
    "> On 3. May 2024, at 10:12, Ann Lee <ann@a.test> wrote:\n> \n> Does Thursday work?",
  "iOS": "On May 3, 2024, at 10:12 AM, Ann Lee <ann@a.test> wrote:\n\n\ufeffDoes Thursday work?",
  "Thunderbird": "On 5/3/24 10:12, Ann Lee wrote:\n> Does Thursday work?",
  "Yahoo":
    "    On Friday, May 3, 2024 at 10:12:00 AM GMT+2, Ann Lee <ann@a.test> wrote:  \n \n Does it?",
  "Proton": "On Friday, 3 May 2024 at 10:12, Ann Lee <ann@a.test> wrote:\n\n> Does Thursday work?",
  "Proton, old":
    "------- Original Message -------\nOn Friday, May 3rd, 2024 at 10:12, Ann wrote:\n> x",
  "Outlook, plain":
    "-----Original Message-----\nFrom: Ann Lee <ann@a.test>\nSent: Friday\n\nDoes it?",
  "Outlook, desktop":
    "From: Ann Lee <ann@a.test>\nSent: Friday, May 3, 2024 10:12 AM\nTo: Bo <bo@b.test>\nSubject: Day\n\nDoes it?",
  "Outlook, web":
    "________________________________\nFrom: Ann Lee <ann@a.test>\nSent: Friday\nTo: Bo",
  "Outlook, bold labels":
    "*From:* Ann Lee <ann@a.test>\n*Date:* Friday, 3 May 2024\n*To:* Bo\n\nDoes it?",
  "Outlook, German":
    "Von: Ann Lee <ann@a.test>\nGesendet: Freitag, 3. Mai 2024 10:12\nAn: Bo\nBetreff: Tag\n\nGeht es?",
  "Outlook, French":
    "De : Ann Lee <ann@a.test>\nEnvoyé : vendredi 3 mai 2024\nÀ : Bo\nObjet : Jour\n\nx",
  "Outlook, Spanish":
    "De: Ann Lee\nEnviado el: viernes, 3 de mayo de 2024\nPara: Bo\nAsunto: Día\n\nx",
  "Outlook, Japanese": "差出人: Ann\n送信日時: 2024年5月3日\n宛先: Bo\n件名: 日\n\nx",
  "German": "Am Fr., 3. Mai 2024 um 10:12 Uhr schrieb Ann Lee <ann@a.test>:\n\n> Geht es?",
  "German, Thunderbird": "Am 03.05.24 um 10:12 schrieb Ann Lee:\n> Geht es?",
  "German, Outlook": "-----Ursprüngliche Nachricht-----\nVon: Ann Lee\n\nGeht es?",
  "French": "Le ven. 3 mai 2024 à 10:12, Ann Lee <ann@a.test> a écrit :\n\n> Jeudi ?",
  "Spanish": "El vie, 3 may 2024 a las 10:12, Ann Lee (<ann@a.test>) escribió:\n\n> ¿Jueves?",
  "Italian":
    "Il giorno ven 3 mag 2024 alle ore 10:12 Ann Lee <ann@a.test> ha scritto:\n\n> Giovedì?",
  "Portuguese": "Em sex., 3 de mai. de 2024 às 10:12, Ann Lee <ann@a.test> escreveu:\n\n> Quinta?",
  "Dutch": "Op vr 3 mei 2024 om 10:12 schreef Ann Lee <ann@a.test>:\n\n> Donderdag?",
  "Swedish": "Den fre 3 maj 2024 kl 10:12 skrev Ann Lee <ann@a.test>:\n\n> Torsdag?",
  "Danish": "Den 3. maj 2024 kl. 10.12 skrev Ann Lee <ann@a.test>:\n\n> Torsdag?",
  "Finnish": "pe 3. toukok. 2024 klo 10.12 Ann Lee (ann@a.test) kirjoitti:\n\n> Torstai?",
  "Polish": "pt., 3 maj 2024 o 10:12 Ann Lee <ann@a.test> napisał(a):\n\n> Czwartek?",
  "Czech": "pá 3. 5. 2024 v 10:12 odesílatel Ann Lee <ann@a.test> napsal:\n\n> Čtvrtek?",
  "Russian": "пт, 3 мая 2024 г. в 10:12, Ann Lee <ann@a.test>:\n\n> Четверг?",
  "Ukrainian": "пт, 3 трав. 2024 р. о 10:12 Ann Lee <ann@a.test> пише:\n\n> Четвер?",
  "Turkish": "Ann Lee <ann@a.test>, 3 May 2024 Cum, 10:12 tarihinde şunu yazdı:\n\n> Perşembe?",
  "Japanese": "2024年5月3日(金) 10:12 Ann Lee <ann@a.test>:\n\n> 木曜日?",
  "Chinese": "Ann Lee <ann@a.test> 于2024年5月3日周五 10:12写道：\n\n> 星期四？",
  "Korean": "2024년 5월 3일 (금) 오전 10:12, Ann Lee <ann@a.test>님이 작성:\n\n> 목요일?",
  "Horde": "Zitat von Ann Lee <ann@a.test>:\n\n> Geht es?",
  "Seznam": "---------- Původní e-mail ----------\nOd: Ann\nDatum: 3. 5. 2024\n\nHodí se?",
  "Lotus Notes": "Ann Lee <ann@a.test> wrote on 05/03/2024 10:12:13 AM:\n\n> Does it?",
  "The Bat!": "Friday, May 3, 2024, 10:12:13 AM, you wrote:\n\n> Does it?",
  "NetEase": 'At 2024-05-03 10:12:00, "Ann" <ann@a.test> wrote:\n>Does it?',
  "no date": "Ann Lee <ann@a.test> wrote:\n\n> Does Thursday work?",
  "a name alone": "Ann Lee wrote:\n> Does Thursday work?",
  "quote alone": "> Does Thursday work?\n> \n>> nested\n\n",
  "nested":
    "On Fri, May 3, 2024 at 10:12 AM Ann <ann@a.test> wrote:\n> On 2 May 2024, Bo <bo@b.test> wrote:\n>> a",
};

Deno.test("extractText() cuts what mail programs quote", () => {
  const all = Object.entries(QUOTED);
  assert.ok(all.length >= 12);
  const wrong = all.map(([program, quoted]) => [program, extractText(`${OWN}\n\n${quoted}`)])
    .filter(([, extracted]) => extracted !== OWN);
  assert.deepEqual(wrong, []);
});

Deno.test("extractText() cuts the same with CRLF", () => {
  const [first] = Object.values(QUOTED);
  assert.equal(extractText(`Hi\n\n${first}`.replaceAll("\n", "\r\n")), "Hi");
});

Deno.test("extractText() gives the whole text where nothing would be left", () => {
  const texts = [
    "On Fri, May 3, 2024, Ann <ann@a.test> wrote:\n\nDoes it?",
    "> first\n> second\n",
    "\n\n-----Original Message-----\nFrom: x",
    "From: Ann <ann@a.test>\nDate: 3 May 2024\nTo: Bo\n\nDoes it?",
    "",
    "  \n",
  ];
  assert.deepEqual(texts.map(extractText), texts);
});

Deno.test("extractText() keeps what is new between quotes and below them, in order", () => {
  const texts = {
    "Hi,\n> one?\nYes.\n> On 3 May 2024, Ann <ann@a.test> wrote:\n> two?\nNo.\n":
      "Hi,\n\nYes.\n\nNo.",
    "On Fri, May 3, 2024, Ann <ann@a.test> wrote:\n> Does it?\n\nYes, below.": "Yes, below.",
    "Yes.\n\nOn 3 May 2024, Ann <ann@a.test> wrote:\n> 1\nOn 2 May 2024, Bo <bo@b.test> wrote:\n> 2\n\nNo.":
      "Yes.\n\nNo.",
    "Yes. On Fri, May 3, 2024 at 10:12 AM Ann <ann@a.test> wrote:\n> Does it?\nBo": "Yes.\n\nBo",
    "Yes.\n------- Original Message -------\nOn Friday, May 3rd, 2024, Ann wrote:\n\n> x\n\nNo.":
      "Yes.\n\nNo.",
  };
  assert.deepEqual(Object.keys(texts).map(extractText), Object.values(texts));
});

Deno.test("extractText() keeps an answer in the line of an attribution at the end", () => {
  const text = "Hi,\nyes. On Fri, May 3, 2024 at 10:12 AM Ann <ann@a.test> wrote:";
  assert.equal(extractText(text), "Hi,\nyes.");
});

Deno.test("extractText() cuts the header of a former mail in a reply alone", () => {
  const header = "From: Ann <ann@a.test>\nSent: Friday\nTo: Bo\nSubject: Day";
  const texts = [
    `Yes.\n\n${header}\n\nDoes it?\n`,
    `Yes.\n\n${header.replace("Sent", "Date")}\n\n> x\n`,
  ];
  for (const text of texts) {
    assert.equal(extract(text, "reply").text, "Yes.");
    assert.equal(extract(text, "forward").text, text);
  }
  assert.equal(extract(texts[0]!, "other").text, texts[0]);
  const dateFirst = "Yes.\n\nDate: 3 May 2024\nSubject: Day\nFrom: Ann <ann@a.test>\nTo: Bo\n\nx";
  assert.equal(extractText(dateFirst), "Yes.");
});

Deno.test("extractText() takes what is passed on for new, whole", () => {
  const passedOn = [
    "---------- Forwarded message ---------\nFrom: Ann <ann@a.test>\nDate: 3 May 2024\nTo: Bo\n\nx\n\n> y\n",
    "Begin forwarded message:\n\n> From: Ann <ann@a.test>\n> Date: 3 May 2024\n> To: Bo\n>\n> x\n",
    "> Begin forwarded message:\n>\n> x\n",
  ];
  for (const kind of ["forward", "other"] as const) {
    const texts = passedOn.flatMap((text) => [text, `FYI\n\n${text}`]);
    assert.deepEqual(texts.map((text) => extract(text, kind).text), texts);
  }
  assert.equal(
    extract(`> When?\nNoon.\n\n${passedOn[0]}`, "forward").text,
    `Noon.\n\n${passedOn[0]!.trimEnd()}`,
  );
  // Without a mark it is unknown where it begins.
  const unmarked = "FYI\n\nOn 3 May 2024, Ann <ann@a.test> wrote:\n> x\n";
  assert.equal(extract(unmarked, "forward").text, unmarked);
});

Deno.test("extractText() tells where the signature begins, in code points", () => {
  const told = (text: string, kind: MailKind = "reply") => {
    const { text: own, signature } = extract(text, kind);
    return signature === null ? null : [...own].slice(signature).join("");
  };
  const quote = "\n\nOn 3 May 2024, Ann <ann@a.test> wrote:\n> -- \n> Ann\n";
  assert.equal(told("\u{1f642} Yes.\n\n-- \nBo\n" + quote), "-- \nBo");
  assert.equal(told("> When?\n\u{1f642} Noon.\n-- \nBo"), "-- \nBo");
  assert.equal(told("Yes.\n\nSent from my iPhone" + quote), "Sent from my iPhone");
  assert.equal(told("Yes.\n\nVon meinem iPhone gesendet\n"), "Von meinem iPhone gesendet\n");
  assert.equal(told("Yes.\n--\nBo"), "--\nBo");
  // Something new stands below them.
  assert.equal(told("-- \nBo\n\n> When?\n\nNoon."), null);
  assert.equal(told(`--\n${"line\n".repeat(20)}`), null);
  assert.equal(told("FYI\n-- \nBo\n\n---------- Forwarded message ---------\nx", "forward"), null);
  assert.equal(told("Sent from here on, all is lost.\na\nb\nc\nd"), null);
  assert.equal(told("Yes." + quote), null);
});

Deno.test("extractText() keeps what only looks like an introduction", () => {
  const texts = [
    "As Twain wrote:\nthe reports are exaggerated.",
    "In his 2019 memoir Smith wrote:\nnothing.",
    "On 3 May 2024 you wrote:\nJune suits me.\n\nIt does not suit us.",
    "Yes. On 3 May 2024 you wrote:\nJune suits me.\n\nIt does not suit us.",
    "Agenda for 3 May 2024:\n- lunch",
    "Mail ann@a.test and bo@b.test:\nboth answer.",
    "_________\nnine of them",
    "From: Berlin\nTo: Munich\nno date",
    `On 3 May 2024 ${"x".repeat(400)} Ann <ann@a.test> wrote:\nno`,
    "On 3 May 2024\nand\nthen\nAnn <a> wrote:\nno",
    "-- \nBo\nhttps://b.test/____________x",
    "Spring sale\n________________________________\nEverything must go.\n__________\nUnsubscribe",
    "From: Berlin\nTo: Munich\nDate: 3 May 2024, 10:12",
    "As agreed on 3 May 2024, write to ann@a.test:\n- one",
    "Visit us now\n>>> >>> https://a.test <<<\nor later",
    "See <https://a.test/x\n> for more",
    "cat a.txt >> b.txt",
    "He said:\n>From the start it was so.\nAnd left.",
  ];
  assert.deepEqual(texts.map(extractText), texts);
});

Deno.test("extractText() keeps the sentence above an introduction", () => {
  assert.equal(
    extractText("On it!\nOn Fri, May 3, 2024 at 10:12 AM Ann <ann@a.test> wrote:\n> x"),
    "On it!",
  );
});

Deno.test("extractText() gives lines of the text in their order, never none of its words", () => {
  const line = fc.oneof(
    fc.constantFrom(...Object.values(QUOTED).flatMap((quoted) => quoted.split("\n"))),
    fc.constantFrom(
      "> > x",
      "-- ",
      "Begin forwarded message:",
      "Yes. On 3 May 2024, Ann wrote:",
      "",
    ),
    fc.string(),
  );
  const kinds = fc.constantFrom<MailKind>("reply", "forward", "other");
  fc.assert(fc.property(fc.array(line), kinds, (given, kind) => {
    const text = given.join("\n");
    const { text: own, signature } = extract(text, kind);
    assert.equal(own.trim() === "", text.trim() === "");
    assert.ok(signature === null || signature <= [...own].length);
    let next = 0;
    const lines = text.split("\n");
    for (const line of own.split("\n").filter((line) => line.trim() !== "")) {
      while (next < lines.length && !lines[next]!.startsWith(line)) next++;
      assert.ok(next++ < lines.length, line);
    }
  }));
});
