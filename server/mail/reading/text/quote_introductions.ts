/** The words that mail programs introduce a quote with. Data, frozen. */

/** "wrote", as mail programs write it behind or before a name. */
const WROTE = [
  "wrote|writes|écrit|a écrit|schrieb|geschrieben|escribió|escribio|va escriure|ha scritto|scrisse",
  "escreveu|schreef|geschreven|skrev|skreiv|skrifaði|kirjoitti|napisała?|napisał\\(a\\)|pisze",
  "napsala?|napsal\\(a\\)|napísala?|napísal\\(a\\)|написала?|написал\\(а\\)|пишет|писала?",
  "написав|написали|пише|напиша|напис[аo]|написа|yazdı|yazmış|şunları yazdı|írta|ezt írta|a scris",
  "quoting|zitat von|mensaje citado por|citando|citat från|citeren|cytowanie|цитирую",
  "έγραψε|napisao|napisao je|je napisal[ao]?|kirjutas|rakstīja|rašė|menulis|đã viết|viết|idatzi",
].join("|");
/** The same in scripts that do not part words by spaces, or join them with others. */
const WROTE_ANYWHERE =
  "写道|寫道|写到|寫了|写了|のメール|書きました|のメッセージ|작성|님이 씀|كتب|כתב|כתבה|‫כתב|نوشت|เขียน|ने लिखा|लिखा";

export const WROTE_WORDS: RegExp = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${WROTE})(?![\\p{L}\\p{N}])|${WROTE_ANYWHERE}`,
  "iu",
);

const START =
  "On|Am|Le|El|Il|Em|Op|Den|På|Dne|Dňa|W dniu|Dnia|La data de|Pe|În data de|Στις|На|В|Vào|Pada|Ha|ב-|בתאריך|في|در";
/** Words that such an introduction begins with. */
export const INTRODUCTION_START: RegExp = new RegExp(
  `^\\s*-{0,60}\\s{0,9}(?:${START})(?![\\p{L}\\p{N}])`,
  "iu",
);
/** The same behind an answer in one line: a date follows soon. */
export const INNER_START: RegExp = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:${START})(?=\\s[^\\n]{0,20}\\d)`,
  "gu",
);

/** "Forwarded message", behind dashes. */
const FORWARDED_WORDS = [
  "(?:Start of )?Forwarded (?:message|mail|by)|Begin forwarded message|Weitergeleitete (?:Nachricht|E-Mail)",
  "Message transféré|Message réexpédié|Mensaje reenviado|Messaggio inoltrato|Mensagem (?:re)?encaminhada",
  "Doorgestuurd bericht|Vidarebefordrat meddelande|Videresendt (?:besked|meddelelse|melding|e-post)",
  "Välitetty viesti|Edelleenlähetetty viesti|(?:Wiadomość )?Przekazana (?:dalej|wiadomość)|Treść przekazanej wiadomości",
  "Wiadomość przekazana dalej|Přeposlaná zpráva|Preposlaná správa|Пересланное (?:сообщение|письмо)|Пересылаемое сообщение",
  "Переслане повідомлення|Препратено съобщение|(?:İletilen|Yönlendirilen) (?:mesaj|ileti)|Továbbított (?:üzenet|levél)",
  "Mesaj redirecționat|Προωθημένο μήνυμα|Tin nhắn đã chuyển tiếp|転送(?:された)?メッセージ|转发(?:的)?(?:邮件|消息)|轉寄(?:的)?(?:郵件|訊息)",
  "전달된 메시지|원본 메시지 전달|הודעה שהועברה|رسالة مُ?عاد توجيهها",
].join("|");
/** The same as a line of its own, before a colon. */
const FORWARD_BEGINS = [
  "(?:Begin )?Forwarded message|Anfang der weitergeleiteten (?:Nachricht|E-Mail)|Weitergeleitete Nachricht",
  "Début du message (?:réexpédié|transféré)|Inicio del mensaje reenviado|Inizio (?:del )?messaggio inoltrato",
  "Início da mensagem (?:re)?encaminhada|Begin doorgestuurd bericht|Vidarebefordrat (?:brev|mejl|meddelande)",
  "Start på videresendt besked|Videresendt melding|Välitetty viesti alkaa|Początek przekazywanej wiadomości",
  "Začátek přeposílané zprávy|Начало переадресованного сообщения|Початок листа, що пересилається|İletilen ileti başlangıcı",
  "Továbbított levél kezdete|転送されたメッセージ|下面是被转发的邮件|以下是轉寄的郵件|전달된 메시지 시작",
].join("|");

/** A line that mail programs introduce a forwarded mail with. */
export const FORWARDED_MESSAGE: RegExp = new RegExp(
  `^\\s{0,9}(?:[-=_*]{2,60}\\s{0,9}(?:${FORWARDED_WORDS})|(?:${FORWARD_BEGINS})\\s?[:：]\\s{0,9}$)`,
  "iu",
);

/** "Original Message" between dashes. */
export const ORIGINAL_MESSAGE: RegExp = new RegExp(
  `^\\s{0,9}-{3,60}\\s{0,9}(?:${
    [
      "Original Message|Original Appointment|Reply Message|Ursprüngliche Nachricht|Urspr. Nachricht",
      "Antwort Nachricht|Antwortnachricht",
      "Original-Nachricht|Originalnachricht|Message d['’]origine|Message original|Mensaje original",
      "Messaggio originale|Mensagem original|Oorspronkelijk bericht|Origineel bericht",
      "Ursprungligt meddelande|Originalmeddelande|Oprindelig meddelelse|Original meddelelse",
      "Opprinnelig melding|Alkuperäinen viesti|Wiadomość oryginalna|Oryginalna wiadomość",
      "Původní zpráva|Původní e-mail|Pôvodná správa|Исходное сообщение|Исходное письмо|Оригинальное сообщение",
      "Вихідне повідомлення|Оригінальне повідомлення|Özgün İleti|Orijinal Mesaj|Eredeti üzenet",
      "Mesaj original|Αρχικό μήνυμα|元のメッセージ|原始邮件|邮件原件|原始郵件|원본 메시지|원본 메일",
    ].join("|")
  })\\s{0,9}-{3,60}\\s*$`,
  "iu",
);

/** Labels of the block that Outlook puts above a quoted message. */
const FROM =
  "From|Von|De|Da|Van|Från|Fra|Lähettäjä|Od|От|От кого|Від|Kimden|Gönderen|Feladó|De la|Από|差出人|送信者|发件人|寄件者|寄件人|보낸 사람|보낸사람|مِن|من|מאת";
/** Only mails have these; what is below has a journey too. */
const SENT =
  "Sent|Gesendet|Envoyé|Envoyé le|Date d['’]envoi|Enviado|Enviado el|Enviado em|Enviada em|Inviato|Verzonden|Skickat|Sendt|Lähetetty|Wysłano|Data wysłania|Odesláno|Odoslané|Elküldve|Отправлено|Надіслано|Gönderildi|Gönderme Tarihi|Trimis|Data trimiterii|Εστάλη|送信日時|发送时间|发送日期|寄件日期|傳送時間|보낸 날짜|تاريخ الإرسال|נשלח";
const DATE =
  "Date|Datum|Fecha|Data|Dato|Päivämäärä|Päiväys|Dátum|Дата|Tarih|Ημερομηνία|日時|日付|日期|時間|날짜|التاريخ|תאריך";
const TO =
  "To|An|À|A|Para|Aan|Till|Til|Vastaanottaja|Do|Komu|Pre|Кому|Kime|Alıcı|Címzett|Către|Προς|宛先|收件人|收件者|받는 사람|받는사람|إلى|אל";
const SUBJECT =
  "Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp|Ämne|Emne|Aihe|Temat|Předmět|Predmet|Tárgy|Subiect|Тема|Относно|Konu|Θέμα|件名|主题|主旨|主題|제목|الموضوع|נושא";
/** Programs that make text of bold labels leave asterisks. */
const label = (names: string) =>
  new RegExp(`^\\s{0,9}\\*{0,2}(?:${names})\\s{0,3}\\*{0,2}\\s{0,3}[:：]`, "iu");

export const FROM_LABEL: RegExp = label(FROM);
export const SENT_LABEL: RegExp = label(SENT);
export const DATE_LABEL: RegExp = label(`${SENT}|${DATE}`);
export const TO_LABEL: RegExp = label(TO);
export const SUBJECT_LABEL: RegExp = label(SUBJECT);
/** Before a label that stands in the line of another one. */
export const BEFORE_LABEL: RegExp = new RegExp(
  `\\s(?=\\*{0,2}(?:${FROM}|${SENT}|${DATE}|${TO}|${SUBJECT})\\s{0,3}\\*{0,2}\\s{0,3}[:：])`,
  "u",
);
