import type { AccessPolicy } from "./context.ts";

/** Which methods of its namespaces a listener serves: those that match `allow` and not `deny`. `*` stands for any text. */
export type MethodRules = {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
};

/** What a listener serves, computed once for every method. */
export function createAccessPolicy(
  options: {
    readonly namespaces: Iterable<string>;
    readonly isOpen?: boolean;
    readonly methods?: MethodRules;
  },
  methodNames: Iterable<string>,
): AccessPolicy {
  const policy = { namespaces: new Set(options.namespaces), isOpen: options.isOpen === true };
  const { methods } = options;
  if (methods === undefined) return policy;
  const isAllowed = matcher(methods.allow);
  const isDenied = matcher(methods.deny);
  const denied = [...methodNames].filter((name) => !isAllowed(name) || isDenied(name));
  return { ...policy, deniedMethods: new Set(denied) };
}

/** True for names that match one of `globs` from end to end; the case of letters counts. */
function matcher(globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map((glob) => {
    const literal = glob.split("*").map((part) => part.replace(/[\\^$.|?+(){}[\]]/g, "\\$&"));
    return new RegExp(`^${literal.join(".*")}$`);
  });
  return (name) => patterns.some((pattern) => pattern.test(name));
}
