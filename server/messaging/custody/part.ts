/** Custody as a part of the relay: the keys it starts with, and what start-up says about it. */
import type { AgentCore } from "../agents/agent_core.ts";
import type { Deps } from "../../base/parts/deps.ts";
import { mount } from "../../base/description/declaration.ts";
import type { Part } from "../../base/parts/part.ts";
import { startupNote } from "../../base/config/startup_notes.ts";
import { Custody } from "./custody.ts";
import { custodyKeyId, KeyRing } from "../../base/sealing/key_ring.ts";
import { custodyKeyPath, openCustodyKeys, readKeyFile } from "./open_custody_keys.ts";
import { listMarkedKeys } from "../../base/sealing/sealed_rows.ts";
import { CUSTODY_ROUTES } from "./routes.ts";

export interface OpenCustody extends Part {
  custody: Custody;
  ring: KeyRing;
}

/** @throws Error when the file of a generated key is damaged */
export async function openCustody(core: AgentCore): Promise<OpenCustody> {
  const { records, store } = core;
  const { config, random } = core.deps;
  const markedKeys = await listMarkedKeys(store);
  const { lostCustodyKeys: lostKeys } = config;
  const mayMake = markedKeys.every((keyId) => lostKeys.includes(keyId));
  const ring = new KeyRing(await openCustodyKeys(config, random, mayMake), random);
  const custody = new Custody({ records, ring, markedKeys, lostKeys, random });
  return {
    custody,
    ring,
    routes: mount(CUSTODY_ROUTES, { ...core, custody }),
    notes: [startupNote("custody", await describe(custody, ring, config))],
  };
}

/** On or off, and why. */
async function describe(
  { missingKeys, givenUpKeys }: Custody,
  ring: KeyRing,
  config: Deps["config"],
): Promise<string> {
  if (missingKeys.length > 0) {
    const named = missingKeys.join(", ");
    return `off: the store holds agents' keys under custody key ${named}, which is not configured; ` +
      `tools register nobody, and agents with such keys cannot send or export; ` +
      `put it into RELAY_CUSTODY_KEY, behind a comma where another is to come first` +
      (await whereItIs(missingKeys, config) ||
        `; if it is lost for good, put ${named} into RELAY_LOST_CUSTODY_KEYS`);
  }
  if (ring.primaryId === null) {
    return "off: RELAY_CUSTODY_KEY is unset and a hosted relay makes none; tools register nobody";
  }
  const source = config.custodyKeys.length > 0 ? "RELAY_CUSTODY_KEY" : custodyKeyPath(config);
  return `on: agents' keys are encrypted under ${source} (id ${ring.primaryId}); keep a copy apart from the store` +
    (givenUpKeys.length === 0
      ? ""
      : `; given up as lost is ${givenUpKeys.join(", ")}: agents with keys under it can only read`);
}

/** Most often the missing key is the one that an earlier run made for itself. */
async function whereItIs(
  missingKeys: readonly string[],
  config: Deps["config"],
): Promise<string> {
  if (config.hosted) return "";
  const path = custodyKeyPath(config);
  const key = await readKeyFile(path).catch(() => null);
  return key !== null && missingKeys.includes(custodyKeyId(key)) ? ` (it stands in ${path})` : "";
}
