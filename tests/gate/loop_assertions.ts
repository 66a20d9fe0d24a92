/** What surely has an element: always, if the constant of this name has one, or not known to have. */
type Fullness = "full" | { name: string } | "unknown";

/** An assertion, or a call of a function of the same file that may assert. */
interface Claim {
  calls: string | null;
  /** What the loops around it walk through. */
  loops: readonly Fullness[];
}

/** A test or a function of the file. */
interface Frame {
  node: Deno.lint.Node;
  claims: Claim[];
  /** What the loops around the place walk through that is being read. */
  loops: Fullness[];
}

/** Functions that register a test. */
const TEST = /^(?:Deno\.test|partOrSkip|\w+\.step)$/;
const ASSERTION = /^(?:assert\w*|[\w.]+\.assert\w*|fail)(?:\.\w+)?$/;
/** Methods whose callback runs once an element. */
const WALK = /^(?:every|filter|find|flatMap|forEach|map|some)$/;
/** Methods that leave something where there was something. */
const KEEP = /^(?:entries|keys|map|reverse|sort|toReversed|toSorted|values)$/;

/**
 * A rule of `deno lint`: a test has an assertion that surely runs. A test that asserts only in loops
 * over what may be empty passes when nothing is there; it asserts the length first.
 */
const loopAssertions: Deno.lint.Plugin = {
  name: "gate",
  rules: {
    "loop-assertions": {
      create: (context) => /_test\.ts$/.test(context.filename) ? findLoose(context) : {},
    },
  },
};

export default loopAssertions;

function findLoose(context: Deno.lint.RuleContext): Deno.lint.LintVisitor {
  const tests: Frame[] = [];
  const functions = new Map<string, Frame>();
  const constants = new Map<string, Fullness>();
  const open: Frame[] = [];
  const begin = (node: Deno.lint.Node) => {
    const frame: Frame = { node, claims: [], loops: [] };
    open.push(frame);
    return frame;
  };
  const enterLoop = (walked: Fullness) => open.at(-1)?.loops.push(walked);
  const leaveLoop = () => open.at(-1)?.loops.pop();
  const leave = () => open.pop();

  const isFull = (walked: Fullness, seen: string[] = []): boolean => {
    if (walked === "full" || walked === "unknown") return walked === "full";
    if (seen.includes(walked.name)) return false;
    return isFull(constants.get(walked.name) ?? "unknown", [...seen, walked.name]);
  };
  const claimsOf = (frame: Frame, seen: string[] = []): Claim[] =>
    frame.claims.flatMap((claim) => {
      if (claim.calls === null) return [claim];
      const called = functions.get(claim.calls);
      if (called === undefined || seen.includes(claim.calls)) return [];
      return claimsOf(called, [...seen, claim.calls])
        .map(({ loops }) => ({ calls: null, loops: [...claim.loops, ...loops] }));
    });

  return {
    VariableDeclarator({ id, init }) {
      if (id.type === "Identifier" && init) constants.set(id.name, fullnessOf(init));
    },
    CallExpression(node) {
      const callee = nameOf(node.callee);
      if (TEST.test(callee)) {
        tests.push(begin(node));
        return;
      }
      const frame = open.at(-1);
      if (ASSERTION.test(callee)) frame?.claims.push({ calls: null, loops: [...frame.loops] });
      else frame?.claims.push({ calls: callee, loops: [...frame.loops] });
      const walked = walkedBy(node);
      if (walked !== null) enterLoop(walked);
    },
    "CallExpression:exit"(node: Deno.lint.CallExpression) {
      if (TEST.test(nameOf(node.callee))) leave();
      else if (walkedBy(node) !== null) leaveLoop();
    },
    FunctionDeclaration(node) {
      const frame = begin(node);
      if (node.id) functions.set(node.id.name, frame);
    },
    "FunctionDeclaration:exit": leave,
    ForOfStatement: ({ right }) => enterLoop(fullnessOf(right)),
    "ForOfStatement:exit": leaveLoop,
    ForInStatement: ({ right }) => enterLoop(fullnessOf(right)),
    "ForInStatement:exit": leaveLoop,
    ForStatement: ({ test }) => enterLoop(boundOf(test)),
    "ForStatement:exit": leaveLoop,
    "Program:exit"() {
      for (const test of tests) {
        const claims = claimsOf(test);
        if (claims.length === 0) continue;
        if (claims.some(({ loops }) => loops.every((walked) => isFull(walked)))) continue;
        context.report({
          node: test.node,
          message: "asserts only in loops over what may be empty",
          hint: "assert the length, or the count, before the loop",
        });
      }
    },
  };
}

/** What a call walks through with a callback; null: it walks through nothing. */
function walkedBy({ callee, arguments: [first] }: Deno.lint.CallExpression): Fullness | null {
  if (callee.type !== "MemberExpression" || first === undefined) return null;
  if (!/^(?:ArrowFunction|Function)Expression$/.test(first.type)) return null;
  return WALK.test(nameOf(callee.property)) ? fullnessOf(callee.object) : null;
}

function fullnessOf(node: Deno.lint.Node): Fullness {
  switch (node.type) {
    case "ArrayExpression": {
      const sure = node.elements.some((element) => element && element.type !== "SpreadElement");
      if (sure) return "full";
      const [spread] = node.elements;
      return spread?.type === "SpreadElement" ? fullnessOf(spread.argument) : "unknown";
    }
    case "ObjectExpression":
      return node.properties.length > 0 ? "full" : "unknown";
    case "Literal":
      return node.value === "" || node.value === null ? "unknown" : "full";
    case "TemplateLiteral":
      return "full";
    case "Identifier":
      return { name: node.name };
    case "AwaitExpression":
      return fullnessOf(node.argument);
    case "TSAsExpression":
    case "TSSatisfiesExpression":
    case "TSNonNullExpression":
      return fullnessOf(node.expression);
    case "NewExpression":
    case "CallExpression":
      return fullnessOfCall(node);
    default:
      return "unknown";
  }
}

function fullnessOfCall(
  { callee, arguments: [first] }: Deno.lint.CallExpression | Deno.lint.NewExpression,
): Fullness {
  const name = nameOf(callee);
  if (name === "Array.from" && first?.type === "ObjectExpression") {
    const [length] = first.properties;
    return length?.type === "Property" ? fullnessOf(length.value) : "unknown";
  }
  const wraps = /^(?:Object\.(?:entries|keys|values)|Array\.from|Map|Set|Promise\.all)$/;
  if (wraps.test(name) && first) return fullnessOf(first);
  if (callee.type === "MemberExpression" && KEEP.test(nameOf(callee.property))) {
    return fullnessOf(callee.object);
  }
  return "unknown";
}

/** A `for` counts to a number that stands there, or goes on until something breaks it. */
function boundOf(test: Deno.lint.Node | null): Fullness {
  if (test === null) return "full";
  return test.type === "BinaryExpression" ? fullnessOf(test.right) : "unknown";
}

/** `a.b.c` as it is written; "" for what is not such a name. */
function nameOf(node: Deno.lint.Node): string {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.computed) return "";
  const property = nameOf(node.property);
  return `${nameOf(node.object)}.${property}`;
}
