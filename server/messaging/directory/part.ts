/** The directory as a part of the relay. */
import type { AgentCore } from "../agents/agent_core.ts";
import type { Part } from "../../base/parts/part.ts";
import { AgentSearch } from "./agent_search.ts";
import { Directory } from "./directory.ts";
import { DirectoryPacks } from "./directory_packs.ts";
import { directoryRoutes } from "./routes.ts";
import { SearchLimit } from "./search_limit.ts";

export interface OpenDirectory extends Part {
  /** For the tools: the same searches under the same limit. */
  agentSearch: AgentSearch;
}

export function openDirectory(core: AgentCore): OpenDirectory {
  const { store, clients, limits } = core;
  /** For processes that start cold. */
  const packs = store.exclusive ? null : new DirectoryPacks(store);
  const directory = new Directory({ ...core, packs });
  const searchesPerMinute = limits.searchesPerIpPerMinute;
  const limit = new SearchLimit({ ...core, searchesPerMinute });
  const agentSearch = new AgentSearch(directory, limit);
  return {
    routes: directoryRoutes({ agentSearch, clients }),
    agentSearch,
    everyMinute: () => packs?.build() ?? Promise.resolve(),
  };
}
