/** Prints the data folder that a relay started here would use: what `deno task start` may write to. */
import { withEnvFile } from "./env_file.ts";

const { RELAY_DATA_DIR } = await withEnvFile(Deno.env.toObject(), ".env");
console.log(RELAY_DATA_DIR || "data");
