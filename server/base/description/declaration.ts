/**
 * A route said once. Its declaration makes the route that app.ts mounts and the operation of the API
 * description; it stands without any services, so that a route can be described while it is off. Each
 * area has constructors for who may call (`agents/agent_route.ts`, `access/mail_route.ts`); they end here.
 */
import type { BodyPoolName } from "../http/bodies/body_pools.ts";
import type { Handler, Route } from "../http/routes/route.ts";
import type { Limits } from "../config/limits.ts";
import type { Credential, Operation, Setting } from "./operation.ts";

/** What the router and the description both rest on. */
export interface RouteFacts
  extends
    Pick<Operation, "path" | "id" | "tag" | "summary" | "addition" | "page">,
    Pick<Route, "cors" | "ownCors"> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Greatest body in bytes, or the limit that says it; absent where the handler reads no body. */
  bodyLimit?: number | keyof Limits;
}

/** More about a route: how to use it, and the shapes of what it takes and answers. */
export type RouteWords = Omit<Operation, keyof RouteFacts | "access">;

/** Where words name the address, a limit, or whether mail is on, they are a function. */
export type SayWords = RouteWords | ((setting: Setting) => RouteWords);

/** What mounting takes of every area. */
export interface MountServices {
  limits: Limits;
}

/** A declaration as the constructors of an area hand it on. */
export interface Declared extends RouteFacts {
  /** Ways in, any of them; empty: public. */
  access: readonly Credential[];
  pool: BodyPoolName;
  words: SayWords;
}

export interface Declaration<Services = never> extends Declared {
  describe: (setting: Setting) => Operation;
  mount: (services: Services) => Route;
}

/**
 * The one way to a declaration.
 * @param handlerOf makes the handler once, when the route is mounted: nothing is resolved a request
 */
export function declareRoute<Services>(
  declared: Declared,
  handlerOf: (services: Services & MountServices) => Handler,
): Declaration<Services & MountServices> {
  return declareWhole(
    declared,
    (services) => routeOf(declared, services.limits, handlerOf(services)),
  );
}

/** As declareRoute(), of a route that something else makes whole, such as a tool server. */
export function declareWhole<Services>(
  declared: Declared,
  mount: (services: Services) => Route,
): Declaration<Services> {
  return { ...declared, mount, describe: (setting) => operationOf(declared, setting) };
}

/** The route of a declaration with a handler of whatever kind. */
export function routeOf(
  { method, path, page, cors, ownCors, bodyLimit, pool }: Omit<Declared, "words">,
  limits: Limits,
  handle: Handler,
): Route {
  if (bodyLimit === undefined) return { method, path, page, cors, ownCors, handle };
  const limitBytes = typeof bodyLimit === "number" ? bodyLimit : limits[bodyLimit];
  return { method, path, page, cors, ownCors, body: { limitBytes, pool }, handle };
}

function operationOf(declared: Declared, setting: Setting): Operation {
  const { method, path, id, tag, summary, addition, page, access, words } = declared;
  return {
    method: method.toLowerCase() as Operation["method"],
    path,
    id,
    tag,
    summary,
    addition,
    page,
    access,
    ...wordsFor(words, setting),
  };
}

export function wordsFor(words: SayWords, setting: Setting): RouteWords {
  return typeof words === "function" ? words(setting) : words;
}

/** The operations of declarations, in their order. */
export function describeAll(
  declarations: readonly Declaration[],
  setting: Setting,
): Operation[] {
  return declarations.map((one) => one.describe(setting));
}

/** The routes of declarations, in their order. */
export function mount<Services>(
  declarations: readonly Declaration<Services>[],
  services: Services,
): Route[] {
  return declarations.map((one) => one.mount(services));
}

/** A route of the messaging service, or a page, that anybody may call. */
export interface PublicRoute<Services> extends RouteFacts {
  /** Credentials that the handler looks at by itself, where there are some; none when absent. */
  access?: readonly Credential[];
  words: SayWords;
  handle: (services: Services) => Handler;
}

/** @param route how it is described, and what makes its handler */
export function publicRoute<Services>(
  { handle, access = [], ...facts }: PublicRoute<Services>,
): Declaration<Services & MountServices> {
  return declareRoute<Services>({ ...facts, access, pool: "messages" }, handle);
}
