/** /docs, its pages in HTML and in Markdown, /llms.txt, /llms-full.txt, /docs/try and /verify. */
import { z } from "@hono/zod-openapi";
import { fixedAnswers } from "../../base/description/fixed_answers.ts";
import { RelayError } from "../../base/errors.ts";
import { answerFixed, type FixedContent } from "../../base/http/answers/fixed_content.ts";
import type { Handler } from "../../base/http/routes/route.ts";
import { pageRoute } from "../../base/pages/page_route.ts";

/** The document at a path. */
export interface Reading {
  content: FixedContent;
  headers: Readonly<Record<string, string>>;
  /** They win where `?v=` names the version of the content. */
  addressedHeaders?: Readonly<Record<string, string>>;
}

/** By path; each is made when it is first asked for, and kept. */
export type Readings = ReadonlyMap<string, () => Promise<Reading>>;

interface DocsServices {
  /** Gives what stands at the path of a request. */
  read: Handler;
}

/**
 * @param fixed what every relay has
 * @param openLibrary the rest, which is opened when one of it is first asked for
 */
export function createReader(fixed: Readings, openLibrary: () => Promise<Readings>): Handler {
  return async (c) => {
    const path = c.get("path");
    const isOfTry = path.startsWith("/docs/try/");
    const make = fixed.get(path) ?? (isOfTry ? undefined : (await openLibrary()).get(path));
    if (make === undefined) {
      throw new RelayError(
        "not_found",
        isOfTry
          ? "the page loads no such file; it is at /docs/try"
          : "the documentation has no such page; /docs lists them all",
      );
    }
    const { content, headers, addressedHeaders } = await make();
    const isAddressed = c.get("query") === `v=${content.version}`;
    return answerFixed(c.req.raw, content, {
      ...headers,
      ...(isAddressed ? addressedHeaders : {}),
    });
  };
}

interface ReadingRoute {
  path: string;
  id: string;
  summary: string;
  description: string;
  /** Media types that it is available in. */
  types: readonly string[];
  /** What its segments name, where they vary. */
  segments?: Readonly<Record<string, string>>;
}

function readingRoute({ description, types, segments, ...route }: ReadingRoute) {
  const params = Object.entries(segments ?? {}).map(([name, what]) =>
    [name, z.string().openapi({ description: what })] as const
  );
  return pageRoute<DocsServices>({
    ...route,
    words: {
      description,
      ...(segments === undefined ? {} : {
        params: z.object(Object.fromEntries(params)),
        errors: { not_found: "there is nothing of this name" },
      }),
      answers: fixedAnswers("What is there.", types.map((type) => ({ type, schema: z.string() }))),
    },
    handle: ({ read }) => read,
  });
}

// Two open routes take all that is below /docs: beside them the fast router of the application takes no
// literal path of the same method.
export const DOCS_ROUTES = [
  readingRoute({
    path: "/docs",
    id: "readDocs",
    summary: "The documentation as pages",
    description:
      "Guides and the reference for people, in the words of this relay: its address, its " +
      "limits. Each page is there in Markdown too.",
    types: ["text/html"],
  }),
  readingRoute({
    path: "/docs/{file}",
    id: "readGuide",
    summary: "A guide, or the page to try routes out",
    description:
      "As a page, or with `.md` behind its name in Markdown. /docs and /llms.txt list them. /docs/try is this description as a page that sends requests, signed by a key that the browser makes.",
    segments: { file: "Such as `start`, `start.md` or `try`." },
    types: ["text/html", "text/markdown"],
  }),
  readingRoute({
    path: "/docs/{folder}/{file}",
    id: "readReferencePage",
    summary: "An operation of the reference, or a file of /docs/try",
    description:
      "In the folder `reference` one operation of this description with its examples and " +
      "errors: as a page, or with `.md` behind its name in Markdown. Operations of mail are there while " +
      "mail is on. In the folder `try` the scripts and styles that /docs/try loads.",
    segments: {
      folder: "`reference` or `try`.",
      file: "An operationId such as `sendMessage`, or `sendMessage.md`.",
    },
    types: ["text/html", "text/markdown", "text/javascript", "text/css"],
  }),
  readingRoute({
    path: "/llms.txt",
    id: "readLlms",
    summary: "The documentation for language models",
    description: "What there is to read, with links to all of it in Markdown (llmstxt.org).",
    types: ["text/plain"],
  }),
  readingRoute({
    path: "/llms-full.txt",
    id: "readLlmsFull",
    summary: "The whole documentation in one file",
    description: "Every guide and every operation in Markdown, one after the other.",
    types: ["text/plain"],
  }),
  readingRoute({
    path: "/verify",
    id: "readVerify",
    summary: "Check a message in the browser",
    description:
      "The offline verifier inside a page that says what a copy from the relay is good for. " +
      "`#from=ADDRESS` fills in a sender; no server is told of it.",
    types: ["text/html"],
  }),
  readingRoute({
    path: "/verify/verify.html",
    id: "readVerifier",
    summary: "The offline verifier as a file",
    description:
      "Byte for byte the file of the project's repository, to be saved and used without a " +
      "network.",
    types: ["text/html"],
  }),
  readingRoute({
    path: "/verify/verify.js",
    id: "readVerifierScript",
    summary: "The verifier's script",
    description: "The script of that file, for the page `/inbox`, which checks what it shows.",
    types: ["text/javascript"],
  }),
];
