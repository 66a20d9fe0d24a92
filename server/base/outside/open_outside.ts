/** What the relay posts outside with, by its settings and the rights of its process. */
import type { MailConfig } from "../config/mail_config.ts";
import type { Deps } from "../parts/deps.ts";
import { logSparsely } from "../log_sparsely.ts";
import { createDnsClient } from "./dns_client.ts";
import { TAKES_CONNECTIONS } from "./exchange.ts";
import { Outside } from "./outside.ts";
import { resolveByDns, resolveBySystem } from "./resolve_host.ts";

export function openOutside({ config, log, now }: Pick<Deps, "config" | "log" | "now">): Outside {
  const { local, allowLoopbackWebhooks, dnsServers } = config.mail;
  const ask = createDnsClient(dnsServers, logSparsely(log, "webhook_dns_failed"));
  return new Outside({
    refusal: whyNothingIsPosted(config.mail),
    allowLoopback: allowLoopbackWebhooks,
    local,
    resolve: dnsServers.length > 0 ? resolveByDns(ask) : resolveBySystem,
    now,
  });
}

/** In words for start-up; null where the process may post. @param query what says which rights it has */
export function whyNothingIsPosted(
  { webhooks, envProxy, local, allowLoopbackWebhooks }: Pick<
    MailConfig,
    "webhooks" | "envProxy" | "local" | "allowLoopbackWebhooks"
  >,
  query: typeof Deno.permissions.querySync = (right) => Deno.permissions.querySync(right),
): string | null {
  if (!webhooks) return "RELAY_WEBHOOKS is false";
  if (envProxy) {
    return "NODE_USE_ENV_PROXY is set, and only a connection of the relay's own shows which address it reaches: unset it";
  }
  if (!TAKES_CONNECTIONS) return "the runtime is too old: webhooks need Deno 2.9 or later";
  // Where loopback is opened it may be all that is needed: a host without a right fails by itself.
  const host = local || allowLoopbackWebhooks ? { host: "127.0.0.1" } : {};
  if (query({ name: "net", ...host }).state === "granted") return null;
  return local
    ? "the process may not reach 127.0.0.1: start it with the flags of `deno task permissions`"
    : "the process may not reach every public host: start it with the flags of `deno task permissions`, or set RELAY_WEBHOOKS=false";
}
