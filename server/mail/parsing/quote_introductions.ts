/** The words by which mail programs introduce what they quote. Data, frozen. */

/** "wrote", as mail programs write it behind or before a name. */
const WROTE = [
  "wrote|writes|écrit|a écrit|schrieb|geschrieben|escribió|escribio|va escriure|ha scritto|scrisse",
  "escreveu|schreef|geschreven|skrev|skreiv|skrifaði|kirjoitti|napisała?|napisał\\(a\\)|pisze",
  "napsala?|napsal\\(a\\)|napísala?|napísal\\(a\\)|написала?|написал\\(а\\)|пишет|писала?",
  "написав|написали|пише|напиша|напис[аo]|написа|yazdı|yazmış|şunları yazdı|írta|ezt írta|a scris",
  "έγραψε|napisao|napisao je|je napisal[ao]?|kirjutas|rakstīja|rašė|menulis|đã viết|viết|idatzi",
].join("|");
/** The same in scripts that do not part words by spaces, or join them with others. */
const WROTE_ANYWHERE =
  "写道|寫道|写到|寫了|写了|のメール|書きました|のメッセージ|작성|님이 씀|كتب|כתב|כתבה|‫כתב|نوشت|เขียน|ने लिखा|लिखा";

export const WROTE_WORDS: RegExp = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${WROTE})(?![\\p{L}\\p{N}])|${WROTE_ANYWHERE}`,
  "iu",
);

/** Words that such an introduction begins with. */
export const INTRODUCTION_START: RegExp =
  /^\s*(?:On|Am|Le|El|Il|Em|Op|Den|Dne|Dňa|W dniu|Dnia|La data de|Pe|Στις|На|В|Le|Vào|Pada|Ha|ב-|בתאריך|في|در)(?![\p{L}\p{N}])/iu;

/** "Original Message" between dashes. */
export const ORIGINAL_MESSAGE: RegExp = new RegExp(
  `^\\s{0,9}-{3,60}\\s{0,9}(?:${
    [
      "Original Message|Original Appointment|Ursprüngliche Nachricht|Urspr. Nachricht",
      "Original-Nachricht|Originalnachricht|Message d['’]origine|Message original|Mensaje original",
      "Messaggio originale|Mensagem original|Oorspronkelijk bericht|Origineel bericht",
      "Ursprungligt meddelande|Originalmeddelande|Oprindelig meddelelse|Original meddelelse",
      "Opprinnelig melding|Alkuperäinen viesti|Wiadomość oryginalna|Oryginalna wiadomość",
      "Původní zpráva|Pôvodná správa|Исходное сообщение|Исходное письмо|Оригинальное сообщение",
      "Вихідне повідомлення|Оригінальне повідомлення|Özgün İleti|Orijinal Mesaj|Eredeti üzenet",
      "Mesaj original|Αρχικό μήνυμα|元のメッセージ|原始邮件|邮件原件|原始郵件|원본 메시지|원본 메일",
    ].join("|")
  })\\s{0,9}-{3,60}\\s*$`,
  "iu",
);

/** Labels of the block that Outlook puts above a quoted message. */
const FROM =
  "From|Von|De|Da|Van|Från|Fra|Lähettäjä|Od|От|От кого|Від|Kimden|Gönderen|Feladó|De la|Από|差出人|送信者|发件人|寄件者|寄件人|보낸 사람|보낸사람|مِن|من|מאת";
const DATE =
  "Sent|Date|Gesendet|Datum|Envoyé|Envoyé le|Date d['’]envoi|Enviado|Enviado el|Enviado em|Enviada em|Fecha|Data|Inviato|Verzonden|Skickat|Sendt|Dato|Lähetetty|Päivämäärä|Päiväys|Wysłano|Data wysłania|Odesláno|Odoslané|Dátum|Elküldve|Отправлено|Дата|Надіслано|Gönderildi|Gönderme Tarihi|Tarih|Trimis|Data trimiterii|Εστάλη|Ημερομηνία|送信日時|日時|日付|发送时间|发送日期|日期|時間|寄件日期|傳送時間|보낸 날짜|날짜|تاريخ الإرسال|التاريخ|נשלח|תאריך";
const TO =
  "To|An|À|A|Para|Aan|Till|Til|Vastaanottaja|Do|Komu|Pre|Кому|Kime|Alıcı|Címzett|Către|Προς|宛先|收件人|收件者|받는 사람|받는사람|إلى|אל";
/** Programs that make text of bold labels leave asterisks. */
const label = (names: string) =>
  new RegExp(`^\\s{0,9}\\*{0,2}(?:${names})\\s{0,3}\\*{0,2}\\s{0,3}[:：]`, "iu");

export const FROM_LABEL: RegExp = label(FROM);
export const DATE_LABEL: RegExp = label(DATE);
export const TO_LABEL: RegExp = label(TO);
