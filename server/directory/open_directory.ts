/** Opens the directory from its pieces. */
import type { Presence } from "../agents/presence.ts";
import type { Config } from "../config.ts";
import type { Route } from "../http/route.ts";
import type { GroupCommit } from "../storage/group_commit.ts";
import type { PublicReads } from "../storage/public_reads.ts";
import type { RecordCache } from "../storage/record_cache.ts";
import type { Store } from "../storage/store.ts";
import { AgentSearch } from "./agent_search.ts";
import { Directory } from "./directory.ts";
import { DirectoryPacks } from "./packs.ts";
import { directoryRoutes } from "./routes.ts";
import { SearchLimit } from "./search_limit.ts";

export interface OpenDirectoryOptions {
  store: Store;
  records: RecordCache;
  commits: GroupCommit;
  presence: Presence;
  publicReads: PublicReads;
  addressKey: Uint8Array;
  config: Config;
}

export interface OpenDirectory {
  routes: Route[];
  /** For the tools: the same searches under the same limit. */
  agentSearch: AgentSearch;
  /** Packs the directory for processes that start without it in memory. Called every minute. */
  tidy(): Promise<void>;
}

export function openDirectory(options: OpenDirectoryOptions): OpenDirectory {
  const { store, records, commits, presence, publicReads, addressKey, config } = options;
  const { trustedProxyHops, limits } = config;
  const packs = store.exclusive ? null : new DirectoryPacks(store);
  const directory = new Directory({ store, records, presence, publicReads, packs });
  const searchesPerMinute = limits.searchesPerIpPerMinute;
  const limit = new SearchLimit({ store, records, commits, searchesPerMinute });
  const agentSearch = new AgentSearch(directory, limit);
  return {
    routes: directoryRoutes({ agentSearch, addressKey, trustedProxyHops }),
    agentSearch,
    tidy: () => packs?.build() ?? Promise.resolve(),
  };
}
