/** What a request to local mode asks for, of a program (JSON) or of the page's forms. */
import { invalidJson } from "../../base/errors.ts";
import { readForm } from "../../base/http/fields/form_body.ts";
import { readObject } from "../../base/http/fields/json_body.ts";
import { cleanLine } from "../../base/http/fields/text_fields.ts";
import { isAddrSpec } from "./addr_spec.ts";
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
 * @param type Content-Type; curl says of JSON too that it is a form's, whose first byte never is "{"
 * @param names of the form's fields
 * @throws RelayError `invalid_json`
 */
export function readFields(
  body: Uint8Array,
  type: string | null,
  names: readonly string[],
): RequestFields {
  const isForm = /^application\/x-www-form-urlencoded\s*(;|$)/i.test(type ?? "") &&
    !/^\s*\{/.test(new TextDecoder().decode(body.subarray(0, 100)));
  return { fields: isForm ? readForm(body, names) : readObject(body), isForm };
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
