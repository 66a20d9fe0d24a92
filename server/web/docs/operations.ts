/** What is there to read, in the API description: all of it additions. */
import { z } from "@hono/zod-openapi";
import type { Content, Operation } from "../../base/description/operation.ts";
import { FIXED_HEADERS, NOT_MODIFIED } from "../../base/description/service_operations.ts";

const text = (type: string): Content => ({ type, schema: z.string() });
const PAGE = text("text/html");

interface Reading extends Pick<Operation, "path" | "id" | "summary" | "description"> {
  content: Content | readonly Content[];
  /** What its segments name, where they vary. */
  folder?: string;
  file?: string;
}

const segment = (description: string) => z.string().openapi({ description });

function reading({ content, folder, file, ...words }: Reading): Operation {
  return {
    ...words,
    method: "get",
    tag: "Service",
    addition: true,
    page: true,
    access: [],
    ...(file === undefined ? {} : {
      params: z.object({
        ...(folder === undefined ? {} : { folder: segment(folder) }),
        file: segment(file),
      }),
      errors: { not_found: "there is nothing of this name" },
    }),
    answers: {
      200: { description: "What is there.", headers: FIXED_HEADERS, content },
      304: NOT_MODIFIED,
    },
  };
}

export const DOCS_OPERATIONS: readonly Operation[] = [
  reading({
    path: "/docs",
    id: "readDocs",
    summary: "The documentation as pages",
    description:
      "Guides and the reference for people, in the words of this relay: its address, its " +
      "limits. Each page is there in Markdown too.",
    content: PAGE,
  }),
  reading({
    path: "/docs/{file}",
    id: "readGuide",
    summary: "A guide, or the page to try routes out",
    description:
      "As a page, or with `.md` behind its name in Markdown. /docs and /llms.txt list them. /docs/try is this description as a page that sends requests, signed by a key that the browser makes.",
    file: "Such as `start`, `start.md` or `try`.",
    content: [PAGE, text("text/markdown")],
  }),
  reading({
    path: "/docs/{folder}/{file}",
    id: "readReferencePage",
    summary: "An operation of the reference, or a file of /docs/try",
    description:
      "In the folder `reference` one operation of this description with its examples and " +
      "errors: as a page, or with `.md` behind its name in Markdown. Operations of mail are there while " +
      "mail is on. In the folder `try` the scripts and styles that /docs/try loads.",
    folder: "`reference` or `try`.",
    file: "An operationId such as `sendMessage`, or `sendMessage.md`.",
    content: [PAGE, text("text/markdown"), text("text/javascript"), text("text/css")],
  }),
  reading({
    path: "/llms.txt",
    id: "readLlms",
    summary: "The documentation for language models",
    description: "What there is to read, with links to all of it in Markdown (llmstxt.org).",
    content: text("text/plain"),
  }),
  reading({
    path: "/llms-full.txt",
    id: "readLlmsFull",
    summary: "The whole documentation in one file",
    description: "Every guide and every operation in Markdown, one after the other.",
    content: text("text/plain"),
  }),
  reading({
    path: "/verify",
    id: "readVerify",
    summary: "Check a message in the browser",
    description:
      "The offline verifier inside a page that says what a copy from the relay is good for. " +
      "`#from=ADDRESS` fills in a sender; no server is told of it.",
    content: PAGE,
  }),
  reading({
    path: "/verify/verify.html",
    id: "readVerifier",
    summary: "The offline verifier as a file",
    description:
      "Byte for byte the file of the project's repository, to be saved and used without a " +
      "network.",
    content: PAGE,
  }),
];
