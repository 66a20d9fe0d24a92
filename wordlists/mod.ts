import adjectivesJson from "./adjectives.json" with { type: "json" };
import animalsJson from "./animals.json" with { type: "json" };
import colorsJson from "./colors.json" with { type: "json" };

/** The 1,024 adjectives of word names, in bytewise order: index = chunk mod 1024 (service specification, section 2.1). */
export const adjectives: readonly string[] = Object.freeze(adjectivesJson);

/** The 1,024 colours of word names, in bytewise order: index = chunk mod 1024 (service specification, section 2.1). */
export const colors: readonly string[] = Object.freeze(colorsJson);

/** The 1,024 animals of word names, in bytewise order: index = chunk mod 1024 (service specification, section 2.1). */
export const animals: readonly string[] = Object.freeze(animalsJson);
