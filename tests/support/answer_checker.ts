/** Checks answers of a relay against its own API description. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { createDocument } from "../../server/base/description/document.ts";
import { describeAll } from "../../server/base/description/declaration.ts";
import { ROUTES } from "../../server/routes.ts";
import { decodeSegment } from "../../server/base/http/routes/target.ts";
import { DEFAULT_LIMITS } from "../../server/base/config/limits.ts";

/** An answer as it leaves the relay. */
export interface CheckedAnswer {
  method: string;
  /** Undecoded, without the query. */
  path: string;
  status: number;
  headers: Headers;
  text: string;
}

export interface AnswerChecker {
  /** Everything in the answer that is not as described; empty when all of it is. */
  check(answer: CheckedAnswer): string[];
}

// deno-lint-ignore no-explicit-any -- a JSON document, walked by pointers
type Json = any;

/** Headers that an answer may carry without a description, besides X-*. */
const WATCHED = [
  "retry-after",
  "idempotent-replayed",
  "allow",
  "cache-control",
  "etag",
  "www-authenticate",
];
const METHODS = ["get", "post", "patch", "put", "delete"];

/**
 * A checker that is strict about the description: a status, header or field that is not described
 * is a fault. Clients, in contrast, are told to expect more fields.
 * @param mailOn whether the description is a mail relay's
 */
export function createAnswerChecker(mailOn = false): AnswerChecker {
  const setting = { baseUrl: "http://127.0.0.1", limits: DEFAULT_LIMITS, mailOn };
  const document: Json = closed(
    JSON.parse(
      JSON.stringify(createDocument(setting, describeAll(ROUTES, setting))),
    ),
  );
  const ajv = new Ajv2020({ strict: false });
  (addFormats as unknown as (ajv: Ajv2020) => void)(ajv);
  ajv.addSchema(document, "description");
  const compiled = new Map<string, ValidateFunction>();
  const templates = Object.keys(document.paths).map((path) => ({
    path,
    segments: path.split("/"),
  }));

  function validate(pointer: string, value: unknown): string[] {
    let validator = compiled.get(pointer);
    if (validator === undefined) {
      validator = ajv.compile({ $ref: `description#${pointer}` });
      compiled.set(pointer, validator);
    }
    if (validator(value)) return [];
    return validator.errors!.map(({ instancePath, message, params }) =>
      `${instancePath || "/"} ${message} ${JSON.stringify(params)}`
    );
  }

  function matching(path: string): string[] {
    const segments = path.split("/");
    return templates
      .filter((template) =>
        template.segments.length === segments.length &&
        template.segments.every((expected, index) =>
          expected.startsWith("{")
            ? segments[index] !== "" && decodeSegment(segments[index]!) !== undefined
            : expected === segments[index]
        )
      )
      .map((template) => template.path)
      .sort((a, b) => Number(a.includes("{")) - Number(b.includes("{")));
  }

  function checkHeaders(response: Json, headers: Headers): string[] {
    const faults: string[] = [];
    const described = new Map<string, { pointer: string; header: Json }>();
    for (const [name, { $ref }] of Object.entries<Json>(response.headers ?? {})) {
      const pointer = $ref.slice(1);
      described.set(name.toLowerCase(), { pointer, header: resolve(document, pointer) });
    }
    for (const [name, { pointer, header }] of described) {
      const value = headers.get(name);
      if (value === null) {
        if (header.required) faults.push(`header ${name} is missing`);
        continue;
      }
      const typed = header.schema.type === "integer" ? Number(value) : value;
      faults.push(
        ...validate(`${pointer}/schema`, typed).map((fault) => `header ${name} ${fault}`),
      );
    }
    for (const name of headers.keys()) {
      if ((name.startsWith("x-") || WATCHED.includes(name)) && !described.has(name)) {
        if (name !== "x-content-type-options") faults.push(`header ${name} is not described`);
      }
    }
    return faults;
  }

  function checkResponse(pointer: string, answer: CheckedAnswer, hasBody: boolean): string[] {
    const given = resolve(document, pointer);
    const at = given.$ref === undefined ? pointer : given.$ref.slice(1);
    const response = resolve(document, at);
    const faults = checkHeaders(response, answer.headers);
    if (!hasBody || response.content === undefined) {
      return answer.text === "" ? faults : [...faults, "a body is not described"];
    }
    const type = (answer.headers.get("content-type") ?? "").split(";")[0]!;
    const isDescribed = response.content[type] ?? response.content["*/*"];
    if (isDescribed === undefined) return [...faults, `type ${type} is not described`];
    if (type !== "application/json") return faults;
    let value: unknown;
    try {
      value = JSON.parse(answer.text);
    } catch {
      return [...faults, "the body is no JSON"];
    }
    return [...faults, ...validate(`${at}/content/application~1json/schema`, value)];
  }

  function check(answer: CheckedAnswer): string[] {
    const { method, path, status } = answer;
    const known = matching(path);
    const isHead = method === "HEAD";
    if (known.length === 0) return checkOther(answer, 404, "not_found", !isHead);
    if (method === "OPTIONS") {
      const fits = status === 204 && answer.text === "" && answer.headers.has("allow");
      return fits ? [] : ["OPTIONS is 204 with Allow"];
    }
    const wanted = isHead ? "get" : method.toLowerCase();
    const isMethod = METHODS.includes(wanted) && (isHead || method === method.toUpperCase());
    const template = known.find((one) => isMethod && document.paths[one][wanted] !== undefined);
    if (template === undefined) return checkOther(answer, 405, "method_not_allowed", !isHead);
    const { responses } = document.paths[template][wanted];
    if (responses[status] === undefined) return [`status ${status} is not described`];
    const pointer = `/paths/${escapePointer(template)}/${wanted}/responses/${status}`;
    return checkResponse(pointer, answer, !isHead);
  }

  function checkOther(
    answer: CheckedAnswer,
    status: number,
    code: string,
    hasBody: boolean,
  ): string[] {
    const faults = answer.status === status ? [] : [`status ${answer.status} instead of ${status}`];
    const isPage = answer.headers.get("content-type")?.startsWith("text/html") === true;
    const named = isPage ? `<code>${code}</code>` : `"code":"${code}"`;
    if (hasBody && !answer.text.includes(named)) {
      faults.push(`the code is not ${code}`);
    }
    if (status === 405 && !answer.headers.has("allow")) faults.push("header allow is missing");
    return [
      ...faults,
      ...checkResponse(
        `/components/responses/${isPage ? "OtherRefusalOrPage" : "OtherRefusal"}`,
        answer,
        hasBody,
      ),
    ];
  }

  return {
    check: (answer) =>
      check(answer).map((fault) => `${answer.method} ${answer.path} ${answer.status}: ${fault}`),
  };
}

function resolve(document: Json, pointer: string): Json {
  return pointer.split("/").slice(1).reduce(
    (value, part) => value[part.replaceAll("~1", "/").replaceAll("~0", "~")],
    document,
  );
}

function escapePointer(path: string): string {
  return path.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The same schema with every object closed to members that it does not name. */
function closed(value: Json): Json {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isOpen = copy.type === "object" && copy.properties !== undefined &&
    copy.additionalProperties === undefined;
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
