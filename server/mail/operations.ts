/** The mail area (specification, 4.7): every path is known, and answers 503 while mail is off. */
import { z } from "@hono/zod-openapi";
import type { Operation } from "../description/operation.ts";
import { MAIL_PATHS, type MailPath } from "./paths.ts";

const OFF = "**Mail is off on this relay: the answer is 503 `mail_disabled`,** before anything " +
  "of the request is looked at.";

export const MAIL_OPERATIONS: readonly Operation[] = MAIL_PATHS.map((route) => ({
  method: route.method,
  path: route.path,
  id: route.id,
  tag: "Mail",
  summary: route.summary,
  description: route.note === undefined ? OFF : `${route.note}\n\n${OFF}`,
  addition: route.addition,
  access: accessOf(route),
  params: paramsOf(route.path),
  // Nothing else is answered yet.
  answers: {},
  errors: { mail_disabled: null },
}));

function accessOf({ access = "mailKey" }: Omit<MailPath, "access"> & {
  access?: MailPath["access"] | "mailKey";
}): Operation["access"] {
  return access === "public" ? [] : [access];
}

function paramsOf(path: string): z.ZodObject | undefined {
  const names = [...path.matchAll(/\{([a-z_]+)\}/g)].map(([, name]) => name!);
  if (names.length === 0) return undefined;
  return z.object(Object.fromEntries(names.map((name) => [name, z.string().min(1)])));
}
