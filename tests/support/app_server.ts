/** Runs the HTTP application alone, over routes that a test declares, on a real socket. */
import { KvBackend } from "../../server/base/storage/deno_kv/kv_backend.ts";
import { createApp } from "../../server/app.ts";
import { type Config, parseConfig } from "../../server/base/config/config.ts";
import type { Deps } from "../../server/base/parts/deps.ts";
import { type DatabaseProbe, HEALTH_ROUTES } from "../../server/process/health.ts";
import { mount } from "../../server/base/description/declaration.ts";
import { readPageFile } from "../../server/base/pages/asset_route.ts";
import { type BodyReader, createBodyReader } from "../../server/base/http/bodies/body_reader.ts";
import { bindingsOf, type Route } from "../../server/base/http/routes/route.ts";
import { startTestServer } from "./test_server.ts";

export interface AppServer extends AsyncDisposable {
  port: number;
  url: string;
  logged: { event: string; fields: Record<string, unknown> }[];
}

/** Serves createApp over the routes, with health's and the page files', until it is disposed of. */
export async function startApp(
  routes: readonly Route[],
  options: {
    config?: Partial<Config>;
    isDatabaseAlive?: DatabaseProbe;
    /** How the routes read bodies; without it they read none. */
    bodies?: BodyReader;
  } = {},
): Promise<AppServer> {
  const kv = await Deno.openKv(":memory:");
  const logged: AppServer["logged"] = [];
  const deps: Deps = {
    config: { ...parseConfig({}), ...options.config },
    backend: new KvBackend(kv),
    now: () => 0,
    elapsed: () => 0,
    random: (sizeBytes) => crypto.getRandomValues(new Uint8Array(sizeBytes)),
    fetch,
    log: (event, fields = {}) => void logged.push({ event, fields }),
  };
  const { isDatabaseAlive = () => Promise.resolve(true), bodies = createBodyReader() } = options;
  const { limits } = deps.config;
  const own = mount([...HEALTH_ROUTES, readPageFile], {
    limits,
    clock: () => ({ state: "steady" }),
    mailIn: () => null,
    isDatabaseAlive,
  });
  const app = createApp({ deps, routes: [...own, ...routes], bodies });
  const server = startTestServer((request, info) => app.fetch(request, bindingsOf(info)));
  return {
    port: server.port,
    url: `http://127.0.0.1:${server.port}`,
    logged,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      kv.close();
    },
  };
}
