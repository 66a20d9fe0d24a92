import { codeBlock } from "../../base/pages/code_block.ts";
import type { Html } from "../../base/pages/html.ts";
import type { Sample } from "./samples.ts";

/** A sample as text to copy. */
export function sampleBlock({ text, language }: Sample): Html {
  return codeBlock(text, { language });
}
