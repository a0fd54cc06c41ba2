/** What a good token opens. */
export type Credential = {
  /** Namespaces whose methods it opens; undefined: all. */
  readonly namespaces: ReadonlySet<string> | undefined;
  /** Whether it opens a method of these namespaces; undefined: all of them. */
  readonly includes?: ((method: string) => boolean) | undefined;
  /** The claim `sub`: whom the token was made for. */
  readonly subject?: string | undefined;
  /**
   * True from the moment its `exp` has passed, it was revoked, or its secret is no longer valid: a WebSocket can outlive the token that
   * opened it.
   */
  isExpired(): boolean;
};

/** True when `credential` opens a method of `namespace` now. */
export function opens(credential: Credential | undefined, namespace: string, method: string): boolean {
  if (credential === undefined || credential.isExpired()) return false;
  const { namespaces, includes } = credential;
  return (namespaces === undefined || namespaces.has(namespace)) && (includes === undefined || includes(method));
}

/** The credential of callers that need none: a process that can open the IPC socket belongs to the node's owner. */
export const OWNER: Credential = { namespaces: undefined, isExpired: () => false };

/** True for names that match one of `globs` from end to end; the case of letters counts. */
export function globMatcher(globs: readonly string[]): (name: string) => boolean {
  const patterns = globs.map((glob) => {
    const literal = glob.split("*").map((part) => part.replace(/[\\^$.|?+(){}[\]]/g, "\\$&"));
    return new RegExp(`^${literal.join(".*")}$`);
  });
  return (name) => patterns.some((pattern) => pattern.test(name));
}
