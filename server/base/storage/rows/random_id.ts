const RANDOM_BYTES = 12;

/** 24 random hex digits: names an attempt, a lease or its holder. */
export function randomId({ random }: { random: (sizeBytes: number) => Uint8Array }): string {
  let text = "";
  for (const byte of random(RANDOM_BYTES)) text += byte.toString(16).padStart(2, "0");
  return text;
}
