/** The words that announce one-time codes in mail, and words that only look like them. Data, frozen. */

/** Words of scripts that part words by spaces, as patterns. */
const WORDS = [
  // English, and what other languages took over
  "codes?|passcodes?|otp|totp|mfa|2fa|pin|tan|mtan|verify|verification|verifying|authentication code",
  "(?:one[- ]?time|single[- ]use|temporary) pass(?:word|code|key)s?|security key|login key",
  // German
  "(?:bestätigungs|bestaetigungs|sicherheits|verifizierungs|verifikations|zugangs|anmelde|einmal|freischalt|aktivierungs|authentifizierungs|prüf|login|log-in|zugriffs|zahlen|ziffern|konto|geräte|einladungs|wiederherstellungs|rücksetz)-?codes?",
  "einmal-?(?:passwort|kennwort|pin)|zugangskennung|verifizierungsnummer|bestätigungsnummer",
  // French
  "mot de passe (?:à usage unique|temporaire)|vérification",
  // Spanish, Portuguese, Catalan
  "códigos?|codigos?|clave(?: de (?:acceso|seguridad|verificación))?|contraseña (?:de un solo uso|temporal|de uso único)|verificación",
  "senha (?:de uso único|temporária|descartável)|verificação|chave de segurança|codi",
  // Italian, Romanian
  "codice|codici|password (?:monouso|temporanea)|verifica|cod|codul|parolă de unică folosință",
  // Dutch
  "(?:verificatie|beveiligings|bevestigings|inlog|toegangs|activerings|controle|aanmeld)-?codes?|eenmalig wachtwoord",
  // Swedish, Danish, Norwegian
  "kod|koden|(?:verifierings|engångs|säkerhets|bekräftelse|inloggnings)kod(?:en)?|engångslösenord",
  "kode|koden|(?:engangs|bekræftelses|bekreftelses|sikkerheds|sikkerhets|adgangs|verifikations|verifiserings|pin)kode[nr]?|engangsadgangskode|engangspassord",
  // Finnish, Estonian, Hungarian
  "koodi\\p{L}{0,6}|\\p{L}{3,20}koodi\\p{L}{0,6}|tunnusluku|kertakäyttösalasana|kód\\p{L}{0,4}|kinnituskood|ellenőrző ?kód\\p{L}{0,4}",
  // Polish, Czech, Slovak, Croatian
  "kodem|kodu|hasło jednorazowe|kódem|kódu|kôd|jednorázové heslo",
  // Turkish
  "kod(?:u|unuz|unuzu|un|unu)|doğrulama|tek kullanımlık (?:şifre|parola)\\p{L}{0,5}|şifreniz",
  // Russian, Ukrainian, Bulgarian, Greek
  "код(?:а|ом|ы|у|ът)?|одноразовый пароль|одноразовий пароль|еднократна парола|кодът|κωδικός|κωδικό|κωδικού",
  // Indonesian, Vietnamese
  "kata sandi sekali pakai|mã(?: xác (?:minh|nhận|thực))?|mã otp",
].join("|");

/** Words of scripts that do not, or that join them with others. */
const ANYWHERE = [
  "コード|暗証番号|認証番号|確認番号|ワンタイムパスワード|パスコード",
  "验证码|驗證碼|校验码|动态码|動態碼|动态密码|识别码|激活码|安全码|安全碼|确认码|確認碼|一次性密码|一次性密碼|验证代码|登录码",
  "인증\\s?번호|인증\\s?코드|확인\\s?코드|보안\\s?코드|로그인\\s?코드|일회용\\s?비밀번호|코드",
  "رمز|كود|کد|קוד|कोड|ओटीपी|รหัส",
].join("|");

export const CODE_WORDS: RegExp = new RegExp(
  `(?<![\\p{L}\\p{N}_])(?:${WORDS})(?![\\p{L}\\p{N}_])|${ANYWHERE}`,
  "giu",
);

/** Words before or behind "code" that make it another one. */
const OTHER_CODES = [
  "(?:zip|post|postal|area|country|dialing|dialling|calling|discount|promo|promotional|promotion|coupon|voucher|gift(?: card)?|error|status|exit|response|source|dress|bar|qr|product|item|article|tracking|booking|reservation|referral|invite|customer|client|tax|sort|swift|bic|bank|branch|building|civil|penal|legacy|short|offer|sale|savings|reward|redemption|license|licence|airport|currency|colou?r|hex|reason|department|cost|project|class|course|event|style|morse|vat|sku|model|part|reference|http|machine|byte)[- ]codes?",
  "code (?:review|base|freeze|of conduct|section|snippet|coverage|quality|sample|line|lines|signing|editor|postal|promo|promotionnel|de réduction|de parrainage|client|barres?|source|civil|article|produit|avantage|cadeau)",
  "codes? (?:below|above)? ?(?:at checkout|for \\d+\\s?%)",
  "(?:gutschein|rabatt|aktions|promo|strich|bar|quell|post|vorteils|qr|buchungs|produkt|artikel|fehler|länder|bank|versand|kunden|farb)-?codes?|postleitzahl|plz",
  "c[óo]digo (?:postal|de descuento|promocional|de barras|fuente|fonte|de cliente|de producto|de produto|de error|de erro|de desconto|de área|de rastreamento|de rastreo|civil|penal)",
  "codice (?:postale|fiscale|sconto|promozionale|a barre|cliente|sorgente|prodotto|errore|articolo|civile|penale|di avviamento postale)",
  "cod(?:ul)? (?:poștal|postal|fiscal|de bare|promoțional)|kod (?:pocztowy|rabatowy|kreskowy|promocyjny|błędu)|posta kodu|indirim kodu|promosyon kodu|hata kodu",
  "(?:rabatt|kampanj|felmeddelande|käll|fel|post|streck|rabat|kilde|fejl|feil|stregk|strekk|kampanje)kod(?:e|en)?|(?:kortings|actie|fout|bron|klant|streepjes|post)-?codes?",
  "(?:почтовый|штрих|исходный|промо)[- ]?код\\p{L}{0,3}|код (?:товара|ошибки|страны|города)|поштовий індекс",
  "(?:alennus|posti|viiva|lähde|virhe|tuote|kampanja)koodi\\p{L}{0,6}",
].join("|");
const OTHER_ANYWHERE = [
  "クーポンコード|プロモーションコード|割引コード|商品コード|QRコード|バーコード|ソースコード|エラーコード|郵便番号|注文番号|招待コード",
  "优惠码|優惠碼|折扣码|邮政编码|邮编|二维码|条形码|错误代码|兑换码|订单号",
  "쿠폰\\s?코드|할인\\s?코드|우편번호|오류\\s?코드|상품\\s?코드|QR\\s?코드|소스\\s?코드|바코드|주문번호",
  "الرمز البريدي|كود الخصم|קוד הנחה|קוד קופון",
].join("|");

/** Other codes, with what they are directly followed by. */
export const OTHER_CODE_WORDS: RegExp = new RegExp(
  `(?:(?<![\\p{L}\\p{N}_])(?:${OTHER_CODES})(?![\\p{L}\\p{N}_])|${OTHER_ANYWHERE})` +
    "(?:[\\s:：=*\"'“”«»()#\\-–—>]{0,6}(?:is|ist|lautet|est|es|é|è|er|är|на|は|:)?[\\s:：=*\"'“”«»()#\\-–—>]{0,6}[A-Z0-9]{3,16})?",
  "giu",
);

/** What a number is that stands directly behind one of these words. */
export const OTHER_NUMBER_BEFORE: RegExp = new RegExp(
  `(?:(?<![\\p{L}\\p{N}_])(?:${
    [
      "order|orders|invoice|ticket|case|ref|reference|account|acct|customer|no|nr|num|number|id|room|flight|gate|seat|apt|apartment|suite|unit|floor|version|ver|v|build|release|page|pages|p|chapter|section|§|article|art|box|po box|route|highway|street|row|lot|sku|model|part|item|isbn|invoice no|policy|contract|booking|reservation|tracking|parcel|shipment|transaction|since|copyright|year|by|ending in|ends in|ending with|endet auf|endend auf|terminant par|terminada en|card|karte|carte|tarjeta|call|phone|tel|telephone|fax|dial|mobile|hotline|whatsapp|text|rfc|iso|din|cve|pr|issue|bug|commit|revision|batch|serial|zip|plz|cap|cp|eur|usd|gbp|chf|jpy|rs|inr|kr",
      "bestellung|bestellnummer|rechnung|rechnungsnummer|auftrag|kundennummer|vorgang|aktenzeichen|telefon|anruf|seit|zimmer|konto|vertrag|seite|kapitel|sendungsnummer|version",
      "commande|facture|numéro|dossier|téléphone|depuis|chambre|compte|pedido|factura|fatura|número|teléfono|telefone|cuenta|ordine|fattura|numero|telefono|camera|conto|bestelling|factuur|nummer|telefoon|beställning|faktura|ordre|ordrenummer|ordernummer|tilaus|lasku|zamówienie|faktury|numer|objednávka|заказ|заказа|счёт|счет|телефон|sipariş|fatura",
    ].join("|")
  })|[#№@$€£¥₹₽₩＃￥]|注文番号|注文|電話|订单号|订单|电话|주문번호|전화)[\\s:.：#№*\\-–—]{0,4}(?:(?:is|ist|est|no|nr|number|num|es|:)[\\s:.：#№*]{1,4})?$`,
  "iu",
);

/** What makes the number before it another one. */
export const OTHER_NUMBER_BEHIND: RegExp =
  /^\s?(?:%|€|\$|£|¥|₹|₽|₩|zł|kč|円|元|원|(?:eur|usd|gbp|chf|jpy|sek|nok|dkk|kr|pln|czk|rub|try|tl|inr|euros?|dollars?|points?|miles|km|kg|kb|mb|gb|tb|px|ml|mg|people|participants|attendees|visitors|members|subscribers|downloads|users|customers|views|words|characters|items|steps|days|hours|kunden|teilnehmer|zeichen|punkte|clients|personnes|usuarios|puntos|punti|utenti|年|人)(?![\p{L}\p{N}]))/iu;
