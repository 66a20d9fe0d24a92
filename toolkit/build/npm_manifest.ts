import { VERSION } from "../version.ts";

/**
 * The package.json of the toolkit's npm package.
 *
 * @param libraries what the shipped modules import, each with its exact version: the one that the
 * tests of this version ran with
 */
export function npmManifest(libraries: Readonly<Record<string, string>>) {
  return {
    name: "agent-relay-toolkit",
    version: VERSION,
    description:
      "Sign, name and verify messages between agents, offline; a client and a command line for " +
      "their relays",
    keywords: ["agents", "messaging", "ed25519", "signature", "verify", "jcs"],
    license: "MIT",
    type: "module",
    // The tests run on 20 and 22; from 20.19 on the libraries do.
    engines: { node: ">=20.19" },
    exports: {
      ".": entry("toolkit/mod"),
      "./client": entry("toolkit/client/mod"),
      "./node": entry("toolkit/node/mod"),
      "./browser.js": entry("browser"),
      "./package.json": "./package.json",
    },
    bin: { relay: "./toolkit/cli/main.js" },
    // Only the command line does something by being loaded.
    sideEffects: ["./toolkit/cli/main.js"],
    dependencies: libraries,
  };
}

function entry(module: string) {
  return { types: `./${module}.d.ts`, default: `./${module}.js` };
}
