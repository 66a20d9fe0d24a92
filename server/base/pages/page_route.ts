/** Pages for people, and what is read as text: additions, without CORS headers. */
import { z } from "@hono/zod-openapi";
import {
  type Declaration,
  type MountServices,
  type PublicRoute,
  publicRoute,
} from "../description/declaration.ts";
import type { Content } from "../description/operation.ts";

export const PAGE: Content = {
  type: "text/html",
  schema: z.string().openapi({ description: "The page." }),
};

export function pageRoute<Services>(
  route: Pick<PublicRoute<Services>, "path" | "id" | "summary" | "words" | "handle">,
): Declaration<Services & MountServices> {
  return publicRoute<Services>({
    ...route,
    method: "GET",
    tag: "Service",
    addition: true,
    page: true,
    cors: "none",
  });
}
