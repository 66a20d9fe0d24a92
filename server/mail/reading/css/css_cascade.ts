/** What holds of several declarations of one property (CSS Cascade 4). Pure; linear and counted. */
import type { Declarations, Declared } from "./css_declarations.ts";
import type { Sliced } from "../../../base/slices/sliced.ts";
import type { StepBudget } from "../../../base/slices/step_budget.ts";

/** What it costs to conclude from declarations how an element looks, and from each of their characters. */
const STEPS_OF_LOOK = 20;
const CHARACTERS_A_STEP = 8;

/**
 * The declaration of each property that weighs most; of equals the later one. Null where the steps are
 * spent before.
 */
export function* cascade(
  found: readonly (readonly [weight: number, Declarations])[],
  steps: StepBudget,
): Sliced<Declarations | null> {
  const held = new Map<string, Weighed>();
  for (const [weight, declarations] of found) {
    steps.count(declarations.size);
    if (steps.isRestDue()) yield null;
    if (steps.areSpent) return null;
    for (const [property, declared] of declarations) {
      const before = held.get(property);
      const weighed = { weight, declared };
      if (before === undefined || compare(weighed, before) >= 0) held.set(property, weighed);
    }
  }
  // Shorthands and longer names hold in the order of their weight.
  const inOrder = [...held].sort(([, a], [, b]) => compare(a, b));
  let characters = 0;
  for (const [, { declared }] of inOrder) characters += declared.value.length;
  steps.count(STEPS_OF_LOOK + Math.ceil(characters / CHARACTERS_A_STEP));
  if (steps.areSpent) return null;
  return new Map(inOrder.map(([property, { declared }]) => [property, declared]));
}

interface Weighed {
  weight: number;
  declared: Declared;
}

/** Above 0 where the first holds against the second (CSS Cascade 4, section 6). */
function compare(a: Weighed, b: Weighed): number {
  return Number(a.declared.important) - Number(b.declared.important) || a.weight - b.weight ||
    a.declared.order - b.declared.order;
}
