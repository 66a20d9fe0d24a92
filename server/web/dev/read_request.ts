/** What a request to local mode asks for, of a program (JSON) or of the page's forms. */
import { invalidJson } from "../../base/errors.ts";
import { isForm, readForm } from "../../base/http/fields/form_body.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { cleanLine } from "../../base/http/fields/text_fields.ts";
import { isAddrSpec } from "./compose_plain_mail.ts";
import { ANSWER_KINDS, type AnswerKind } from "./compose_answer.ts";

export interface MailRequest {
  /** "" for the null sender. */
  from: string;
  to: string;
  subject: string;
  text: string;
}

export interface AnswerRequest {
  as: AnswerKind;
  /** Undefined for local mode's own words. */
  text: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const LINE_CODE_POINTS = 998;

export interface RequestFields {
  fields: Fields;
  /** Whether a form's page sent them: who asks wants a page. */
  isForm: boolean;
}

/**
 * @param request whose Content-Type curl makes a form's for JSON too; a form's first byte never is "{"
 * @param names of the form's fields; absent ones are ""
 * @throws RelayError `invalid_json`
 */
export function readFields(
  request: Pick<Request, "headers">,
  body: Uint8Array,
  names: readonly string[],
): RequestFields {
  const isJson = /^\s*\{/.test(new TextDecoder().decode(body.subarray(0, 100)));
  if (isJson || !isForm(request)) return { fields: readObject(body), isForm: false };
  const form = readForm(body, names);
  const fields = Object.fromEntries(names.map((name) => [name, form[name] ?? ""]));
  return { fields, isForm: true };
}

/** @throws RelayError `invalid_json` */
export function readMailRequest({ from, to, subject, text }: Fields): MailRequest {
  if (from !== "" && !isAddrSpec(from)) {
    throw invalidJson("from must be an e-mail address, or empty for the null sender");
  }
  if (!isAddrSpec(to)) throw invalidJson("to must be the e-mail address of an inbox");
  const line = cleanLine("subject", subject, LINE_CODE_POINTS);
  if (typeof text !== "string") throw invalidJson("text must be a string");
  return { from, to, subject: line, text };
}

/** @throws RelayError `invalid_json` */
export function readAnswerRequest({ as, text }: Fields): AnswerRequest {
  const kind = ANSWER_KINDS.find((one) => one === as);
  if (kind === undefined) throw invalidJson(`as must be one of ${ANSWER_KINDS.join(", ")}`);
  if (text !== undefined && typeof text !== "string") {
    throw invalidJson("text must be a string, or absent or empty for words of local mode's own");
  }
  return { as: kind, text: text === "" ? undefined : text };
}
