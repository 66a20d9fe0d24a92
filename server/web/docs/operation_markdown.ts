/** A page of the reference: one operation in Markdown, for people and for programs. */
import type { Description } from "../../base/description/description.ts";
import { ERROR_CAUSES } from "../../base/description/error_causes.ts";
import { errorsOf } from "../../base/description/errors_of.ts";
import type { Content, Credential, Operation } from "../../base/description/operation.ts";
import type { ErrorCode } from "../../base/errors.ts";
import { curlSample } from "./curl_sample.ts";
import { type SchemaRow, schemaRows, typeOf } from "./schema_rows.ts";

export interface OperationMarkdown {
  /** All but what every such route may answer. */
  main: string;
  /** Refusals that most routes share: a list. */
  commonErrors: string;
}

// deno-lint-ignore no-explicit-any -- a JSON document
type Json = any;

const ACCESS: Readonly<Record<Credential, string>> = {
  signature: "a signature by the agent's key",
  ownerToken: "the `owner_token`",
  toolToken: "a token of the tool server",
  adminToken: "the operator's token",
  mailKey: "an API key of the mail area",
};

const WITHOUT_SAMPLE =
  "## Example\n\nA signed request: [Start](/docs/start) has programs that sign.";

export function operationMarkdown(
  operation: Operation,
  { document, setting }: Pick<Description, "document" | "setting">,
): OperationMarkdown {
  const { method, path, summary, description, addition } = operation;
  const described = (document.paths as Json)[path][method];
  const own = new Set(Object.keys(operation.errors ?? {}));
  const refusals = errorsOf(operation).flatMap(({ status, causes }) =>
    Object.entries(causes).map(([code, cause]) => ({ code: code as ErrorCode, status, cause }))
  );
  const isOwn = ({ code }: { code: ErrorCode }) => own.has(code);
  const sample = curlSample(operation, setting.baseUrl);
  const sections = [
    `# ${summary}`,
    `\`${method.toUpperCase()} ${path}\`${addition ? " (an addition)" : ""}`,
    description,
    `**Access:** ${accessOf(operation)}.`,
    sample === null ? WITHOUT_SAMPLE : `## Example\n\n\`\`\`sh\n${sample}\n\`\`\``,
    parametersOf(described, document),
    bodyOf(operation, described, document),
    answersOf(operation, described, document),
    refusals.some(isOwn) ? `## Errors\n\n${listOf(refusals.filter(isOwn))}` : "",
  ];
  return {
    main: `${sections.filter((section) => section !== "").join("\n\n")}\n`,
    commonErrors: listOf(refusals.filter((refusal) => !isOwn(refusal))),
  };
}

function accessOf({ access, accessOptional }: Operation): string {
  if (access.length === 0) return "public";
  const ways = access.map((credential) => ACCESS[credential]).join(", or ");
  return accessOptional ? `public; ${ways} is taken too` : ways;
}

function parametersOf(described: Json, document: Json): string {
  const rows = (described.parameters ?? []).map((given: Json): SchemaRow => ({
    name: given.name,
    type: typeOf(given.schema ?? {}, document),
    isOptional: given.required !== true,
    words: [
      `In the ${given.in}.`,
      given.description ?? given.schema?.description ?? "",
    ].join(" ").trim(),
  }));
  return rows.length === 0 ? "" : `## Parameters\n\n${tableOf(rows)}`;
}

function bodyOf({ body }: Operation, described: Json, document: Json): string {
  if (body === undefined) return "";
  const { type = "application/json" } = body;
  const { schema } = described.requestBody.content[type];
  return [
    `## Body\n\n${body.description} Type: \`${type}\`${body.optional ? ", optional" : ""}.`,
    fieldsOf(schema, document),
    ...examplesOf(body),
  ].filter((part) => part !== "").join("\n\n");
}

function answersOf({ answers }: Operation, described: Json, document: Json): string {
  const parts = Object.entries(answers).flatMap(([status, answer]) => {
    const contents = [answer.content ?? []].flat() as Content[];
    return [
      `### ${status}\n\n${answer.description}`,
      ...contents.flatMap(({ type = "application/json", ...content }) => {
        const schema = described.responses[status]?.content?.[type]?.schema;
        const isJson = type === "application/json";
        return [
          isJson ? fieldsOf(schema, document) : `Type: \`${type}\`.`,
          ...examplesOf(content as Content),
        ];
      }),
    ];
  });
  return `## Answers\n\n${parts.filter((part) => part !== "").join("\n\n")}`;
}

function fieldsOf(schema: Json, document: Json): string {
  const rows = schema === undefined ? [] : schemaRows(schema, document);
  return rows.length === 0 ? "" : tableOf(rows);
}

function examplesOf({ examples = {} }: Pick<Content, "examples">): string[] {
  return Object.entries(examples).map(([name, value]) =>
    `Example, *${name}*:\n\n` +
    (typeof value === "string"
      ? `\`\`\`text\n${value}\n\`\`\``
      : `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``)
  );
}

function tableOf(rows: readonly SchemaRow[]): string {
  return [
    "| name | type | what |",
    "| --- | --- | --- |",
    ...rows.map(({ name, type, isOptional, words }) =>
      `| \`${name}\` | ${cell(type)}${isOptional ? ", optional" : ""} | ${cell(words)} |`
    ),
  ].join("\n");
}

function listOf(refusals: readonly { code: ErrorCode; status: number; cause: string }[]): string {
  return refusals.map(({ code, status, cause }) =>
    `- **${status}** \`${code}\`: ${cause}; ${ERROR_CAUSES[code].next}.`
  ).join("\n");
}

/** What may stand in a cell of a table. */
function cell(text: string): string {
  return text.replaceAll("\n", " ").replaceAll("|", "\\|");
}
