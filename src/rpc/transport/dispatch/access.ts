import { globMatcher } from "../auth/credential.ts";
import type { AccessPolicy } from "./context.ts";

/** Which methods of its namespaces a listener serves: methods that match `allow` but not `deny`. `*` stands for any text. */
export type MethodRules = {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
};

/** What a listener serves, computed once for every method. */
export function createAccessPolicy(
  options: {
    readonly namespaces: Iterable<string>;
    readonly isOpen?: boolean;
    readonly isClosed?: boolean;
    readonly methods?: MethodRules;
  },
  methodNames: Iterable<string>,
): AccessPolicy {
  const policy = {
    namespaces: new Set(options.namespaces),
    isOpen: options.isOpen === true,
    isClosed: options.isClosed === true,
  };
  const { methods } = options;
  if (methods === undefined) return policy;
  const isAllowed = globMatcher(methods.allow);
  const isDenied = globMatcher(methods.deny);
  const denied = [...methodNames].filter((name) => !isAllowed(name) || isDenied(name));
  return { ...policy, deniedMethods: new Set(denied) };
}
