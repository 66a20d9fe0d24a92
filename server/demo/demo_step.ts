/** What the demo prints about its steps. */

/** Begins a step, with what it shows. */
export function step(text: string): void {
  console.log(`\n- ${text}`);
}

/** Shows something that came of it. */
export function show(text: string): void {
  console.log(`    ${text}`);
}
