/** Which operations the reference shows: what programs call, and what this relay has. Pure. */
import type { Content, Operation } from "../../base/description/operation.ts";

export function isShown(operation: Operation, mailOn: boolean): boolean {
  if (!mailOn && isOfMail(operation)) return false;
  return hasSuccess(operation) && !isPage(operation);
}

function isOfMail({ path }: Operation): boolean {
  return /^\/(?:v1\/mail|v1\/admin\/mail|mcp\/mail)(?:\/|$)/.test(path);
}

/** What this version does not have yet only refuses. */
function hasSuccess({ answers }: Operation): boolean {
  return Object.keys(answers).some((status) => status.startsWith("2"));
}

/** Pages for people, and the files that they load. */
function isPage({ answers }: Operation): boolean {
  const types = Object.values(answers).flatMap(({ content }) =>
    ([content ?? []].flat() as Content[]).map(({ type = "application/json" }) => type)
  );
  return types.length > 0 &&
    types.every((type) => /^(?:text\/(?:html|css|javascript|markdown)|image\/)/.test(type));
}
