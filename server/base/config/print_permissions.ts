/**
 * Prints how the runtime collects garbage, and the permissions that a relay started here needs, as
 * arguments of `deno run`: one line for a shell or a unit file, or, given `-0` and more arguments, all of
 * them with NUL between.
 */
import { withEnvFile } from "./env_file.ts";
import { DECIDING_SETTINGS, ENV_FILE, permissionFlags, RUNTIME_FLAGS } from "./permissions.ts";
import { readSettings } from "./read_settings.ts";
import { RESOLV_CONF } from "../../../toolkit/mail/resolv_conf.ts";

const settings = readSettings(DECIDING_SETTINGS);
// A .env file that cannot be read stops the relay itself, which says so.
const given = await withEnvFile(settings, ENV_FILE).catch(() => settings);
const resolvConf = await Deno.readTextFile(RESOLV_CONF).catch(() => "");
const flags = [...RUNTIME_FLAGS, ...permissionFlags(given, resolvConf)];
const [form, ...rest] = Deno.args;
if (form === "-0") {
  await new Blob([[...flags, ...rest].join("\0")]).stream().pipeTo(Deno.stdout.writable);
} else {
  console.log(flags.map((flag) => /^[\w@%+=:,./[\]-]+$/.test(flag) ? flag : quote(flag)).join(" "));
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
